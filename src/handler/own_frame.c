/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/own_frame.h"

#include "base/perf_siginfo.h"
#include "base/syscall.h"
#include "signal/ownership.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

/* BELOW: bytes of stack that the handler's callees use at most. ABOVE: bytes from the handler's
 * frame to the end of the signal frame, vector registers included. */
#define BELOW 4096
#define ABOVE 16384

/* Does the slot watch something near the handler's frames? Where none does, two system calls are
 * saved. */
static bool is_near(const struct area_slot *slot, uint64_t frame)
{
	return (atomic_load_explicit(&slot->generation, memory_order_relaxed) & 1) &&
	       slot->address - (frame - BELOW) < BELOW + ABOVE;
}

/* Is it a watch's? A limit's signals are looked at when they are delivered. */
static bool is_hit(uint64_t tag)
{
	return area_tag_limit(tag) >= AREA_LIMITS;
}

/* Takes a pending SIGTRAP away: at most one is pending in a thread. When the kernel writes it to
 * `taken`, a watch of that memory which includes the kernel trips once more; that second signal is
 * taken without reading it. Accepted: if it was somebody else's, sent since, it is lost. */
static void take_one(struct area_process *process)
{
	static const uint64_t trap = 1ull << (SIGTRAP - 1);
	static const struct timespec now;
	union {
		siginfo_t info;
		struct perf_siginfo perf;
	} taken;
	uint64_t pending = 0;

	raw_syscall3(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0);
	if (!(pending & trap) || raw_syscall6(SYS_rt_sigtimedwait, (long)&trap, (long)&taken.info,
					      (long)&now, sizeof(trap), 0, 0) != SIGTRAP)
		return;
	if (taken.info.si_code == PERF_SIGINFO_CODE && area_tag_is_ours(taken.perf.data) &&
	    is_hit(taken.perf.data)) {
		atomic_fetch_add_explicit(&process->own, 1, memory_order_relaxed);
		raw_syscall6(SYS_rt_sigtimedwait, (long)&trap, 0, (long)&now, sizeof(trap), 0, 0);
	} else {
		signal_requeue(SIGTRAP, &taken.info);
	}
}

void own_frame_settle(struct area_process *process, uint64_t tag, const void *frame)
{
	if (!process || !is_hit(tag))
		return;
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (is_near(&process->slot[i], (uintptr_t)frame)) {
			take_one(process);
			return;
		}
}
