/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The preload library: what runs inside a watched program. It adds no thread, no timer and no
 * descriptor; it waits for hits and notes them. In doubt it stays switched off. Who holds the other
 * end of the area is told it by the environment, or is started by it: companion.c.
 */
#include "agent/opmask.h"
#include "agent/region.h"
#include "agent/state.h"

#include "base/syscall.h"
#include "trap/borrower.h"
#include "trap/ownership.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#define HWCAP2_FSGSBASE 2u /* asm/hwcap2.h */

struct agent_state agent_state;

/* A thread may not read the processor's clock: the kernel has to be asked. */
static _Atomic bool clock_is_forbidden;

bool agent_forbid_clock(void)
{
	atomic_store_explicit(&clock_is_forbidden, true, memory_order_relaxed);
	return !agent_state.quiet;
}

bool agent_clock_is_forbidden(void)
{
	return atomic_load_explicit(&clock_is_forbidden, memory_order_relaxed);
}

uint64_t agent_now(void)
{
	struct timespec now;

	if (agent_clock_is_forbidden())
		raw_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
	else
		clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A fork that fails, and a child that is killed at once, leave it one too high. */
void agent_before_fork(void)
{
	if (agent_state.area)
		atomic_fetch_add(&agent_state.area->forking, 1);
}

/* A forked child has its parent's mapping and none of its events. */
void agent_after_fork(void)
{
	throttle_note_children();
}

void agent_in_child(void)
{
	borrower_begin();
	signal_conceal(SIGTRAP);
	mask_forget_kept();
	wait_forget();
	if (agent_state.regions)
		agent_state.regions->close();
	agent_announce();
	if (agent_state.area)
		atomic_fetch_sub(&agent_state.area->forking, 1);
}

void agent_note_unseen(void)
{
	if (agent_state.area && !area_is_closed(agent_state.area))
		atomic_fetch_add(&agent_state.area->unseen, 1);
}

/* What a program forbids itself stays when it executes another. */
static void find_clock(void)
{
	int mode = PR_TSC_ENABLE;

	raw_syscall6(SYS_prctl, PR_GET_TSC, (long)&mode, 0, 0, 0, 0);
	if (mode == PR_TSC_SIGSEGV)
		agent_forbid_clock();
}

int agent_attach(struct area *area)
{
	static bool registered;
	int err = agent_handle_signals();

	if (err)
		return err;
	find_clock();
	agent_state.can_read_fs_base = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
	agent_state.opmask_at = opmask_probe();
	agent_state.area = area;
	mask_adopt();
	if (!registered)
		pthread_atfork(agent_before_fork, agent_after_fork, agent_in_child);
	registered = true;
	agent_announce();
	return 0;
}

static void join_invitation(void)
{
	struct area *area;
	uint64_t secret;
	int err = area_attach(&area, agent_state.locator);

	if (err && agent_should_ask(agent_state.locator, err, &secret))
		err = agent_ask(&area, secret, area_locator_pid(agent_state.locator));
	if (err)
		return;
	area_locator(area, area->controller, agent_state.locator);
	agent_attach(area);
}

static void say(const char *text)
{
	raw_syscall3(SYS_write, STDERR_FILENO, (long)text, (long)strlen(text));
}

static const char *why_alone_failed(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is no trapline command where this library was installed";
	case -ECHILD:
		return "trapline ended at once beside it";
	case -EACCES:
		return "no events could be opened on it, `trapline doctor` tells why";
	case -ETIMEDOUT:
		return "trapline did not answer";
	default:
		return "it could not be begun";
	}
}

/* Whoever preloads the library asked for it, and there is no command that would tell. */
static void begin_alone(void)
{
	int err = agent_start_companion(NULL);

	if (!err)
		return;
	say("trapline: races are not looked for: ");
	say(why_alone_failed(err));
	say("\n");
}

__attribute__((constructor)) static void start(void)
{
	if (getauxval(AT_SECURE))
		return;
	switch (agent_hide_environment()) {
	case AGENT_INVITED:
		join_invitation();
		break;
	case AGENT_ALONE:
		begin_alone();
		break;
	default:
		break;
	}
}

/* Not reached by _exit(): the controller sees the end of a process by itself as well. */
__attribute__((destructor)) static void stop(void)
{
	struct area_process *process = agent_state.process;

	if (!process)
		return;
	if (process->pid != raw_getpid()) {
		agent_note_unseen();
		return;
	}
	throttle_end();
	if (agent_state.guard)
		agent_state.guard->end();
	/* Whoever started the program by itself reads the report when it has ended. */
	if (agent_state.area->root == process->pid) {
		agent_withdraw();
		return;
	}
	agent_state.process = NULL;
	atomic_store_explicit(&process->state, AREA_PROCESS_GONE, memory_order_release);
	if (!atomic_load(&process->quiet))
		area_ring(agent_state.area);
}
