/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/actions.h"

#include "inject/memory.h"

#include <signal.h>
#include <sys/syscall.h>

const uint64_t actions_of_faults = ACTIONS_BIT(SIGSEGV) | ACTIONS_BIT(SIGBUS) |
				   ACTIONS_BIT(SIGFPE) | ACTIONS_BIT(SIGILL) | ACTIONS_BIT(SIGSYS) |
				   ACTIONS_BIT(SIGABRT);
const uint64_t actions_not_the_programs = ACTIONS_BIT(SIGTRAP) | ACTIONS_BIT(32) | ACTIONS_BIT(33);

int actions_ask(struct remote *remote, uint64_t at, int signal, struct injected_action *action)
{
	int err = (int)REMOTE_CALL(remote, SYS_rt_sigaction, (uint64_t)signal, 0, at,
				   sizeof(uint64_t));

	return err ? err : memory_read(remote->tid, at, action, sizeof(*action));
}

/* *all: each handler of these signals has SA_ONSTACK. It ends with the first that has not. */
static int ask_all(struct remote *remote, uint64_t at, uint64_t signals, bool *all)
{
	int err = 0;

	*all = true;
	for (int signal = 1; signal <= 64 && !err && *all; signal++) {
		struct injected_action action;

		if (!(signals & ACTIONS_BIT(signal)))
			continue;
		err = actions_ask(remote, at, signal, &action);
		if (!err)
			*all = action.handler <= 1 || action.flags & SA_ONSTACK;
	}
	return err;
}

int actions_look(struct remote *remote, uint64_t at, uint64_t caught, enum actions_stack *stack)
{
	const uint64_t own = caught & ~actions_not_the_programs;
	const uint64_t others = own & ~actions_of_faults;
	bool all = false;
	int err = own ? ask_all(remote, at, others ? others : own, &all) : 0;

	*stack = err || !all ? ACTIONS_STACK_ANY
		 : others    ? ACTIONS_STACK_ALWAYS
			     : ACTIONS_STACK_FAULTS;
	return err;
}
