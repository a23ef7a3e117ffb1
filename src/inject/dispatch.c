/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/dispatch.h"

#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define DISPATCHED 2 /* si_code SYS_USER_DISPATCH, asm-generic/siginfo.h */

/* Linux 6.4's struct ptrace_sud_config, which older headers lack. */
struct dispatch_config {
	uint64_t mode, selector, offset, length;
};
#define GET_DISPATCH_CONFIG ((enum __ptrace_request)0x4211)

bool dispatch_is_on(pid_t tid)
{
	struct dispatch_config config = {0};

	return !ptrace(GET_DISPATCH_CONFIG, tid, (void *)sizeof(config), &config) && config.mode;
}

bool dispatch_was(pid_t tid, int status)
{
	siginfo_t info;

	return WSTOPSIG(status) == SIGSYS && !ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) &&
	       info.si_code == DISPATCHED;
}
