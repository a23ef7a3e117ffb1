/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ending.h"

#include "base/syscall.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define SIGNAL_CODE 128

void ending_by_signal_of(int status)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	sigset_t only;

	if (!number)
		return;
	raw_syscall3(SYS_prctl, PR_SET_DUMPABLE, 0, 0);
	signal(number, SIG_DFL);
	sigemptyset(&only);
	sigaddset(&only, number);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	raw_syscall3(SYS_tgkill, raw_getpid(), raw_gettid(), number);
}

int ending_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_CODE + WTERMSIG(status);
}
