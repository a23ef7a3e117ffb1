/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/stacks.h"

#include "inject/memory.h"
#include "inject/remote.h"
#include "inject/rush.h"
#include "inject/status.h"
#include "inject/vdso.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51 /* linux/auxvec.h */
#endif

#define RED_ZONE 128 /* bytes below the stack pointer that the kernel leaves alone */
#define HANDLERS_ROOM \
	2048	    /* bytes; ours takes 800 of them (-fstack-usage), the program's the rest */
#define QUESTIONS 8 /* in one stop, which so takes half a millisecond */
#define TRIES 5

#define BIT(signal) (1ull << ((signal)-1))
static const uint64_t unasked = BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) |
				BIT(SIGSYS) | BIT(SIGABRT) | BIT(SIGTRAP) | BIT(32) | BIT(33);

/* Two frames, of the program's signal and of ours, and what both handlers need. */
static uint64_t needed(void)
{
	uint64_t frame = getauxval(AT_MINSIGSTKSZ);

	return 2 * ((frame ? frame : MINSIGSTKSZ) + RED_ZONE) + HANDLERS_ROOM;
}

static uint64_t room_of(const struct injection *injection)
{
	return injection->own + offsetof(struct injected_own, room);
}

typedef int question_fn(const struct injection *injection, struct remote *remote, void *answer);

static int in_thread(struct injection *injection, pid_t tid, const struct vdso *vdso,
		     question_fn *question, void *answer)
{
	struct rush rush = rush_begin();
	struct remote remote;
	int err = remote_begin(&remote, tid, vdso->call);
	uint64_t length;

	if (!err) {
		err = question(injection, &remote, answer);
		length = remote_end(&remote);
		injection->stops++;
		if (injection->stopped < length)
			injection->stopped = length;
	}
	rush_end(&rush);
	return err;
}

/* ---- which handlers ----------------------------------------------------------------------- */

struct actions {
	uint64_t wanted, asked;
	bool exposed;
};

static int ask_action(const struct injection *injection, struct remote *remote, int signal,
		      struct actions *actions)
{
	const uint64_t at = room_of(injection);
	struct injected_action action;
	int err = (int)REMOTE_CALL(remote, SYS_rt_sigaction, (uint64_t)signal, 0, at,
				   sizeof(uint64_t));

	if (!err)
		err = memory_read(remote->tid, at, &action, sizeof(action));
	if (err)
		return err;
	actions->asked |= BIT(signal);
	actions->exposed |= action.flags & SA_ONSTACK && !(action.mask & STATUS_TRAP);
	return 0;
}

static int ask_actions(const struct injection *injection, struct remote *remote, void *answer)
{
	struct actions *actions = answer;
	int asked = 0, err = 0;

	for (int signal = 1; signal <= 64 && asked < QUESTIONS && !err && !actions->exposed;
	     signal++) {
		if (!(actions->wanted & ~actions->asked & BIT(signal)))
			continue;
		err = ask_action(injection, remote, signal, actions);
		asked++;
	}
	return err;
}

static void look_at_actions(struct injection *injection, struct inject_stacks *stacks,
			    const struct vdso *vdso, uint64_t caught)
{
	struct actions actions = {.wanted = caught & ~unasked, .asked = stacks->asked};

	/* What is caught no longer may be caught again with another handler. */
	actions.asked &= caught;
	for (int i = 0; i < 64 / QUESTIONS + TRIES && !actions.exposed; i++) {
		pid_t tid;

		if (!(actions.wanted & ~actions.asked))
			break;
		tid = remote_choose(injection->pid);
		if (!tid)
			break;
		in_thread(injection, tid, vdso, ask_actions, &actions);
	}
	stacks->asked = actions.asked;
	stacks->exposed = actions.exposed;
}

/* ---- which threads ------------------------------------------------------------------------ */

static int ask_stack(const struct injection *injection, struct remote *remote, void *answer)
{
	const uint64_t at = room_of(injection);
	int err = (int)REMOTE_CALL(remote, SYS_sigaltstack, 0, at);

	return err ? err : memory_read(remote->tid, at, answer, sizeof(stack_t));
}

static bool is_cramped(const stack_t *stack)
{
	return !(stack->ss_flags & SS_DISABLE) && stack->ss_size && stack->ss_size < needed();
}

/* One that sleeps where nothing wakes it is asked another time. */
static bool can_stop(pid_t tid)
{
	struct status status;

	return !status_read(tid, &status) && !strchr("DTtZX", status.state);
}

static void keep_living(struct thread_set *set, const struct thread_set *living)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++)
		if (thread_set_contains(living, set->tids[i]))
			set->tids[kept++] = set->tids[i];
	set->count = kept;
}

static void look_at_threads(struct injection *injection, struct inject_stacks *stacks,
			    const struct vdso *vdso)
{
	struct thread_set living = {0};
	size_t before;

	if (thread_set_list(&living, injection->pid)) {
		thread_set_destroy(&living);
		return;
	}
	keep_living(&stacks->roomy, &living);
	keep_living(&stacks->cramped, &living);
	before = stacks->roomy.count;
	for (size_t i = 0; i < living.count; i++) {
		pid_t tid = living.tids[i];
		stack_t stack;

		if (thread_set_contains(&stacks->roomy, tid) ||
		    thread_set_contains(&stacks->cramped, tid) || !can_stop(tid) ||
		    in_thread(injection, tid, vdso, ask_stack, &stack))
			continue;
		stacks->found += is_cramped(&stack);
		thread_set_add(is_cramped(&stack) ? &stacks->cramped : &stacks->roomy, tid);
	}
	if (stacks->roomy.count != before)
		stacks->version++;
	thread_set_destroy(&living);
}

void inject_stacks_look(struct injection *injection, struct inject_stacks *stacks)
{
	struct status status;
	struct vdso vdso;

	if (status_read(injection->pid, &status) ||
	    (!stacks->exposed && !(status.caught & ~unasked & ~stacks->asked)) ||
	    vdso_find(injection->pid, &vdso))
		return;
	if (!stacks->exposed) {
		look_at_actions(injection, stacks, &vdso, status.caught);
		stacks->version += stacks->exposed;
	}
	if (stacks->exposed)
		look_at_threads(injection, stacks, &vdso);
}

bool inject_stacks_allow(const struct inject_stacks *stacks, pid_t tid)
{
	return !stacks->exposed || thread_set_contains(&stacks->roomy, tid);
}

void inject_stacks_destroy(struct inject_stacks *stacks)
{
	thread_set_destroy(&stacks->roomy);
	thread_set_destroy(&stacks->cramped);
	*stacks = (struct inject_stacks){0};
}
