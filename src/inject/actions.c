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

uint64_t actions_telling(uint64_t caught)
{
	const uint64_t own = caught & ~actions_not_the_programs;
	const uint64_t others = own & ~actions_of_faults;

	return others ? others : own;
}

static bool all_on_stack(uint64_t signals, const struct injected_action action[])
{
	for (unsigned i = 0; i < INJECTED_SIGNALS; i++)
		if (signals >> i & 1 && action[i].handler > 1 && !(action[i].flags & SA_ONSTACK))
			return false;
	return true;
}

enum actions_stack actions_stack(uint64_t caught, const struct injected_action action[])
{
	const uint64_t telling = actions_telling(caught);

	if (!telling || !all_on_stack(telling, action))
		return ACTIONS_STACK_ANY;
	return telling & ~actions_of_faults ? ACTIONS_STACK_ALWAYS : ACTIONS_STACK_FAULTS;
}
