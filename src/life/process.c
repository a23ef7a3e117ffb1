/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The preload library: what runs inside a watched program. It adds no thread, no timer and no
 * descriptor; it waits for hits and notes them. In doubt it stays switched off. This file begins,
 * inherits and ends the watching of a process; start.c decides whether it begins.
 */
#include "life/process.h"

#include "agent/arch.h"
#include "agent/guard.h"
#include "agent/opmask.h"
#include "agent/permitted.h"
#include "agent/region.h"
#include "agent/state.h"
#include "allowance/throttle.h"
#include "base/syscall.h"
#include "contact/announce.h"
#include "handler/handler.h"
#include "mask/mask.h"
#include "mask/nudge.h"
#include "signal/borrower.h"
#include "signal/ownership.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

/* Counts a fork that is about to be made. A fork that fails, and a child that is killed at once,
 * leave the count one too high. */
void agent_before_fork(void)
{
	if (agent_state.area)
		atomic_fetch_add(&agent_state.area->forking, 1);
}

/* A forked child has its parent's mapping of the area and none of its events. */
void agent_after_fork(void)
{
	throttle_note_children();
}

void agent_in_child(void)
{
	borrower_begin();
	signal_conceal(SIGTRAP);
	mask_forget_kept();
	nudge_forget();
	if (agent_state.regions)
		agent_state.regions->close();
	if (permitted_to_begin())
		agent_announce();
	else
		agent_state.process = NULL;
	if (agent_state.area)
		atomic_fetch_sub(&agent_state.area->forking, 1);
}

void agent_note_unseen(void)
{
	if (agent_state.area && !area_is_closed(agent_state.area))
		atomic_fetch_add(&agent_state.area->unseen, 1);
}

/* Finds out how to read the clock. prctl(PR_SET_TSC) is inherited across execve(2), so the
 * processor's clock may be forbidden from the start. */
static void find_clock(void)
{
	int mode = PR_TSC_ENABLE;

	raw_syscall6(SYS_prctl, PR_GET_TSC, (long)&mode, 0, 0, 0, 0);
	if (mode == PR_TSC_SIGSEGV)
		agent_forbid_clock();
}

/* The offset of the mask registers: only the first process that uses this area asks the
 * processor. */
static uint16_t find_opmask(struct area *area)
{
	uint32_t known = atomic_load(&area->opmask);

	if (!known) {
		known = opmask_probe() + 1u;
		atomic_store(&area->opmask, known);
	}
	return (uint16_t)(known - 1);
}

int agent_attach(struct area *area)
{
	static bool registered;
	int err = agent_handle_signals();

	if (err)
		return err;
	find_clock();
	agent_state.can_read_fs_base = agent_arch.has_instruction();
	agent_state.opmask_at = find_opmask(area);
	agent_state.area = area;
	mask_adopt();
	if (!registered)
		pthread_atfork(agent_before_fork, agent_after_fork, agent_in_child);
	registered = true;
	agent_announce();
	return 0;
}

/* Ends the watching at exit(3). _exit() does not come here (exit.c), and the controller notices the
 * end of a process by itself as well. */
__attribute__((destructor)) static void stop(void)
{
	struct area_process *process = agent_state.process;

	if (!process)
		return;
	if (permitted(SYS_getpid) && process->pid != raw_getpid()) {
		agent_note_unseen();
		return;
	}
	if (agent_end_late())
		return;
	throttle_end();
	if (agent_state.guard)
		agent_state.guard->end();
	/* A user who started the program without `trapline` expects the report to be complete when
	 * the program has ended. */
	if (agent_state.area->root == process->pid) {
		agent_withdraw();
		return;
	}
	agent_state.process = NULL;
	atomic_store_explicit(&process->state, AREA_PROCESS_GONE, memory_order_release);
	if (!atomic_load(&process->quiet))
		area_ring(agent_state.area);
}
