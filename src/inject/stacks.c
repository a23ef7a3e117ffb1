/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/stacks.h"

#include "inject/actions.h"
#include "inject/apart.h"
#include "inject/choose.h"
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
#define QUESTIONS 8 /* questions that are asked in one stop, which so takes half a millisecond */
#define TRIES 5

static uint64_t asked_of(uint64_t caught)
{
	return caught & ~actions_of_faults & ~actions_not_the_programs;
}

/* Bytes that a stack must have: for our frame, for the program's if both may come together, and for
 * what the handlers use. */
static uint64_t needed(const struct inject_stacks *stacks)
{
	uint64_t frame = getauxval(AT_MINSIGSTKSZ);
	unsigned frames = stacks->nested ? 2 : 1;

	return frames * ((frame ? frame : MINSIGSTKSZ) + RED_ZONE) + HANDLERS_ROOM;
}

static uint64_t room_of(const struct injection *injection)
{
	return injection->own + offsetof(struct injected_own, room);
}

typedef int question_fn(const struct injection *injection, struct remote *remote, void *answer);

struct asking {
	struct injection *injection;
	pid_t tid;
	uint64_t call; /* struct vdso's */
	question_fn *question;
	void *answer;
};

static int ask_apart(void *context)
{
	const struct asking *asking = context;
	struct injection *injection = asking->injection;
	struct rush rush = rush_begin();
	struct remote remote;
	int err = remote_begin(&remote, REMOTE_PROCESS(injection), asking->tid, asking->call);
	uint64_t length;

	if (!err) {
		err = asking->question(injection, &remote, asking->answer);
		length = remote_end(&remote);
		injection->stops++;
		if (injection->stopped < length)
			injection->stopped = length;
	}
	rush_end(&rush);
	return err;
}

static int in_thread(struct injection *injection, pid_t tid, const struct vdso *vdso,
		     question_fn *question, void *answer)
{
	return apart_run(ask_apart, &(struct asking){injection, tid, vdso->call, question, answer});
}

/* ---- which handlers ----------------------------------------------------------------------- */

struct actions {
	uint64_t wanted, asked;
	bool exposed;
};

static int ask_action(const struct injection *injection, struct remote *remote, int signal,
		      struct actions *actions)
{
	struct injected_action action;
	int err = actions_ask(remote, room_of(injection), signal, &action);

	if (err)
		return err;
	actions->asked |= ACTIONS_BIT(signal);
	actions->exposed |= action.flags & SA_ONSTACK && !(action.mask & STATUS_TRAP);
	return 0;
}

static int ask_actions(const struct injection *injection, struct remote *remote, void *answer)
{
	struct actions *actions = answer;
	int asked = 0, err = 0;

	for (int signal = 1; signal <= 64 && asked < QUESTIONS && !err && !actions->exposed;
	     signal++) {
		if (!(actions->wanted & ~actions->asked & ACTIONS_BIT(signal)))
			continue;
		err = ask_action(injection, remote, signal, actions);
		asked++;
	}
	return err;
}

/* Threads that had room for fewer frames are asked again. */
static void expect_frames(struct inject_stacks *stacks, bool nested)
{
	thread_set_destroy(&stacks->roomy);
	thread_set_destroy(&stacks->cramped);
	stacks->exposed = true;
	stacks->nested = nested;
	stacks->version++;
}

static void look_at_actions(struct injection *injection, struct inject_stacks *stacks,
			    const struct vdso *vdso, uint64_t caught)
{
	struct actions actions = {.wanted = asked_of(caught), .asked = stacks->asked};

	/* A signal that is no longer caught may be caught again later, with another handler. */
	actions.asked &= caught;
	for (int i = 0; i < 64 / QUESTIONS + TRIES && !actions.exposed; i++) {
		pid_t tid;

		if (!(actions.wanted & ~actions.asked))
			break;
		tid = choose_thread(injection->pid);
		if (!tid)
			break;
		in_thread(injection, tid, vdso, ask_actions, &actions);
	}
	stacks->asked = actions.asked;
	if (actions.exposed)
		expect_frames(stacks, true);
}

/* ---- which threads ------------------------------------------------------------------------ */

static int ask_stack(const struct injection *injection, struct remote *remote, void *answer)
{
	const uint64_t at = room_of(injection);
	int err = (int)REMOTE_CALL(remote, SYS_sigaltstack, 0, at);

	return err ? err : memory_read(remote->tid, at, answer, sizeof(stack_t));
}

static bool is_cramped(const struct inject_stacks *stacks, const stack_t *stack)
{
	return !(stack->ss_flags & SS_DISABLE) && stack->ss_size && stack->ss_size < needed(stacks);
}

/* A thread that sleeps where nothing wakes it is asked another time. */
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
		bool cramped;

		if (thread_set_contains(&stacks->roomy, tid) ||
		    thread_set_contains(&stacks->cramped, tid) || !can_stop(tid) ||
		    in_thread(injection, tid, vdso, ask_stack, &stack))
			continue;
		cramped = is_cramped(stacks, &stack);
		stacks->found += cramped;
		thread_set_add(cramped ? &stacks->cramped : &stacks->roomy, tid);
	}
	if (stacks->roomy.count != before)
		stacks->version++;
	thread_set_destroy(&living);
}

void inject_stacks_look(struct injection *injection, struct inject_stacks *stacks)
{
	struct status status;
	struct vdso vdso;

	if (!stacks->exposed && injection->stack != ACTIONS_STACK_ANY)
		expect_frames(stacks, injection->stack == ACTIONS_STACK_ALWAYS);
	if (status_read(injection->pid, &status) ||
	    (!stacks->exposed && !(asked_of(status.caught) & ~stacks->asked)) ||
	    vdso_find(injection->pid, &vdso))
		return;
	if (!stacks->nested)
		look_at_actions(injection, stacks, &vdso, status.caught);
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
