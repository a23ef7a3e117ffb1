/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _exit(2), by which most forked children end. A process that has not been watched yet gives its
 * entry back here, as it does at exit(3) (process.c); otherwise the entry would be free only once
 * the controller has looked through all processes for its owner. The end of any other process is
 * noticed by the controller.
 */
#include "base/syscall.h"
#include "contact/announce.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <trapline/event.h>
#include <unistd.h>

static void (*libc_exit)(int);

__attribute__((constructor)) static void resolve(void)
{
	*(void **)&libc_exit = dlsym(RTLD_NEXT, "_exit");
}

static __attribute__((noreturn)) void end(int status)
{
	agent_end_late();
	if (libc_exit)
		libc_exit(status);
	for (;;)
		raw_syscall3(SYS_exit_group, status, 0, 0);
}

TL_API void _exit(int status)
{
	end(status);
}

TL_API void _Exit(int status)
{
	end(status);
}
