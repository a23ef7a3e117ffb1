/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/own_frame.h"

#include "agent/arch.h"
#include "agent/state.h"
#include "base/perf_siginfo.h"
#include "base/syscall.h"
#include "signal/ownership.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* BELOW: bytes of stack that the handler's callees use at most. ABOVE: bytes from the handler's
 * frame to the end of the signal frame, vector registers included. */
#define BELOW 4096
#define ABOVE 16384
#define STANDSTILLS 64u
#define PASSES_ENDLESS 16u     /* in a row: the next one will not be the last, either */
#define PAUSE 1000000u	       /* ns */
#define PATIENCE 1000000000ull /* ns in which the controller lets the watch rest */

struct extent {
	uint64_t low, high; /* `high` is behind it */
};

static bool is_armed(const struct area_slot *slot)
{
	return atomic_load_explicit(&slot->generation, memory_order_relaxed) & 1;
}

/* Does the slot watch something near the handler's frames? Where none does, two system calls are
 * saved. */
static bool is_near(const struct area_slot *slot, uint64_t frame)
{
	return is_armed(slot) && slot->address - (frame - BELOW) < BELOW + ABOVE;
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

/* Handlers that a thread has been through at one place. A thread is told by its stack pointer,
 * which no other has and which is known where no system call may be made. The entry that was looked
 * at longest ago is given to whoever has none. Accepted: where more threads than entries stand
 * still at once, one that has lost its entry counts from 0 again; that one of them has counted is
 * enough. */
static struct standstill {
	_Atomic uint64_t stack, where;
	_Atomic uint32_t passes;
	_Atomic uint32_t looked; /* turn */
} standstills[STANDSTILLS];
static _Atomic uint32_t turn;

/* Where the handler's frames may be and what the program has of the stack is not, which it may read
 * again and again. On an alternate signal stack they are within it, whatever lies beside it; a
 * thread that was interrupted on that stack itself has what is above its stack pointer. */
static struct extent own_extent(const ucontext_t *context, uint64_t frame, uint64_t stack)
{
	uint64_t start = (uintptr_t)context->uc_stack.ss_sp, size = context->uc_stack.ss_size;
	struct extent own = {frame - BELOW, frame + ABOVE};

	if (frame - start < size) {
		own.low = own.low - start < size ? own.low : start;
		own.high = own.high - start < size ? own.high : start + size;
	}
	if (stack >= frame && stack - insn_arch.red_zone < own.high)
		own.high = stack - insn_arch.red_zone;
	return own;
}

/* Does a watch without an end lie there? */
static bool may_trip_again(const struct area_slot *slot, const struct extent *own)
{
	return slot->hold_limit == AREA_HITS_UNBOUND && is_armed(slot) &&
	       slot->address < own->high && slot->address + slot->length > own->low;
}

static bool may_any_trip_again(const struct area_process *process, const struct extent *own)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (may_trip_again(&process->slot[i], own))
			return true;
	return false;
}

static uint64_t place_of(const struct area_registers *registers)
{
	uint64_t where = registers->pc;

	for (unsigned i = 0; i < INSN_GENERAL; i++)
		where = (where ^ registers->general[i]) * 0x9e3779b97f4a7c15u;
	return where ^ registers->flags;
}

/* The thread's entry; NULL: another one has just taken the entry that was to be had. */
static struct standstill *standstill_of(uint64_t stack)
{
	uint32_t now = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed), age, oldest = 0;
	struct standstill *still, *found = standstills;
	uint64_t before;

	for (still = standstills; still < standstills + STANDSTILLS; still++) {
		if (atomic_load_explicit(&still->stack, memory_order_relaxed) == stack) {
			atomic_store_explicit(&still->looked, now, memory_order_relaxed);
			return still;
		}
		age = now - atomic_load_explicit(&still->looked, memory_order_relaxed);
		if (age > oldest) {
			oldest = age;
			found = still;
		}
	}
	before = atomic_load_explicit(&found->stack, memory_order_relaxed);
	if (!atomic_compare_exchange_strong(&found->stack, &before, stack))
		return NULL;
	atomic_store_explicit(&found->looked, now, memory_order_relaxed);
	atomic_store_explicit(&found->where, 0, memory_order_relaxed);
	return found;
}

/* How often the thread has been in a handler since it last ran an instruction of the program. */
static uint32_t passes_here(const struct area_registers *registers)
{
	struct standstill *still = standstill_of(registers->general[insn_arch.stack_pointer]);
	uint64_t where = place_of(registers);

	if (!still)
		return 0;
	if (atomic_exchange_explicit(&still->where, where, memory_order_relaxed) == where)
		return atomic_fetch_add_explicit(&still->passes, 1, memory_order_relaxed) + 1;
	atomic_store_explicit(&still->passes, 0, memory_order_relaxed);
	return 0;
}

/* The thread is where the program was interrupted, so that its signals may come as they do there;
 * but SIGTRAP, which would only begin this anew. */
static void let_signals_in(const ucontext_t *context)
{
	uint64_t mask, all;

	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	mask |= 1ull << (SIGTRAP - 1);
	raw_sigprocmask(SIG_SETMASK, &mask, &all);
	raw_nanosleep(PAUSE);
	raw_sigprocmask(SIG_SETMASK, &all, NULL);
}

/* The kernel's mask is the first word of libc's. */
static void block_trap(ucontext_t *context)
{
	uint64_t mask;

	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	mask |= 1ull << (SIGTRAP - 1);
	memcpy(&context->uc_sigmask, &mask, sizeof(mask));
}

/* Asks the controller to let the watch rest. For how long it has been asked, in ns. */
static uint64_t ask_for_rest(struct area_slot *slot)
{
	uint32_t generation = atomic_load(&slot->generation);
	uint64_t now = agent_now(), begin;

	if (atomic_load(&slot->framed) != generation) {
		atomic_store(&slot->framed_at, now);
		atomic_store(&slot->framed, generation);
		return 0;
	}
	begin = atomic_load(&slot->framed_at);
	return now > begin ? now - begin : 0;
}

static void wait_for_rest(struct area *area, struct area_slot *slot, ucontext_t *context)
{
	if (ask_for_rest(slot) > PATIENCE) {
		block_trap(context);
		atomic_store(&area->unanswered, 1);
		return;
	}
	area_ring(area);
	let_signals_in(context);
}

bool own_frame_again(struct area *area, struct area_process *process, uint64_t tag,
		     ucontext_t *context, const void *frame, bool quiet)
{
	struct area_registers registers;
	struct area_slot *slot;
	struct extent own;
	uint32_t passes;

	if (!process || !is_hit(tag))
		return false;
	agent_arch.registers(context, &registers);
	own = own_extent(context, (uintptr_t)frame, registers.general[insn_arch.stack_pointer]);
	if (!may_any_trip_again(process, &own))
		return false;
	/* Counted for hits of every watch: the program's own may be another one's. */
	passes = passes_here(&registers);
	slot = &process->slot[tag >> 32 & 0xff];
	if (!passes || !may_trip_again(slot, &own))
		return false;
	atomic_fetch_add_explicit(&process->own, 1, memory_order_relaxed);
	if (passes >= PASSES_ENDLESS && quiet)
		atomic_store(&slot->framed, atomic_load(&slot->generation));
	else if (passes >= PASSES_ENDLESS)
		wait_for_rest(area, slot, context);
	return true;
}
