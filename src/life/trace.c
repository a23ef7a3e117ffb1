/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program debugs a process, by ptrace(2). To a debugger a hit is a SIGTRAP that none of its
 * breakpoints explains, so the watching of what it traces ends. A debugger that attaches from
 * outside is the user's choice, and changes nothing here.
 */
#include "agent/state.h"
#include "base/syscall.h"
#include "contact/announce.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/ptrace.h>
#include <trapline/event.h>

static long (*libc_ptrace)(int, ...);

__attribute__((constructor)) static void resolve(void)
{
	if (!libc_ptrace)
		*(void **)&libc_ptrace = dlsym(RTLD_NEXT, "ptrace");
}

static void give_up(pid_t pid)
{
	for (uint32_t i = 0; i < AREA_PROCESSES; i++) {
		struct area_process *process = &agent_state.area->process[i];

		if (process->pid == pid && process != agent_state.process)
			agent_give_up_other(process);
	}
}

/* Ends the watching of this process. Not in a vfork()ed child, which is not watched and has its
 * parent's memory: it would end the parent's watching. */
static void give_up_self(void)
{
	const struct area_process *process = agent_state.process;

	if (process && process->pid == raw_getpid())
		agent_give_up();
}

TL_API long ptrace(enum __ptrace_request request, ...)
{
	void *address, *data;
	va_list list;
	long result;
	pid_t pid;
	bool other;

	va_start(list, request);
	pid = va_arg(list, pid_t);
	address = va_arg(list, void *);
	data = va_arg(list, void *);
	va_end(list);
	resolve();
	other = agent_state.area && (request == PTRACE_ATTACH || request == PTRACE_SEIZE);
	if (agent_state.area && request == PTRACE_TRACEME)
		give_up_self();
	else if (other)
		give_up(pid);
	result = libc_ptrace((int)request, pid, address, data);
	/* Once more, for a process that has announced itself since: the controller may have opened
	 * its events before it was traced. */
	if (other && result == 0)
		give_up(pid);
	return result;
}
