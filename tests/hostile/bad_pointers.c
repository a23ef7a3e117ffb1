/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that lead nowhere, handed to functions that deal with signals: each says EFAULT. */
#include "trap.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#define tell(call)                                                  \
	do {                                                        \
		long result_ = (call);                              \
		int err_ = result_ < 0 ? errno : 0;                 \
		say("%s: %ld, %s", #call, result_, strerror(err_)); \
	} while (0)

/* So that the compiler does not judge it. */
static void *volatile nowhere = (void *)16;

static void waits(const sigset_t *trap)
{
	const struct timespec none = {0, 0};
	struct epoll_event event;
	siginfo_t info;
	int poller = epoll_create1(EPOLL_CLOEXEC);

	tell(sigwaitinfo(nowhere, &info));
	tell(sigtimedwait(nowhere, &info, &none));
	tell(sigtimedwait(trap, &info, nowhere));
	expect(raise(SIGTRAP) == 0);
	tell(sigtimedwait(trap, nowhere, &none));
	tell(sigtimedwait(trap, &info, &none));
	tell(sigsuspend(nowhere));
	tell(ppoll(NULL, 0, &none, nowhere));
	tell(pselect(0, NULL, NULL, NULL, &none, nowhere));
	tell(epoll_pwait(poller, &event, 1, 0, nowhere));
	tell(sigpending(nowhere));
	close(poller);
}

static void by_number(void)
{
	char action[32] = {0};

	tell(syscall(SYS_rt_sigaction, SIGTRAP, nowhere, NULL, 8));
	tell(syscall(SYS_rt_sigaction, SIGTRAP, NULL, nowhere, 8));
	tell(syscall(SYS_rt_sigaction, SIGTRAP, NULL, action, 7));
	tell(syscall(SYS_rt_sigprocmask, SIG_BLOCK, nowhere, NULL, 8));
	tell(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, nowhere, 8));
	tell(syscall(SYS_signalfd4, -1, nowhere, 8, 0));
}

int main(void)
{
	sigset_t trap = trap_alone();

	signal(SIGTRAP, on_trap);
	noise_start();
	nap(300000);
	for (int i = 0; i < 2; i++) {
		set_trap(i ? SIG_BLOCK : SIG_UNBLOCK);
		say("blocked %d", trap_is_blocked());
		if (i)
			waits(&trap);
		tell(signalfd(-1, nowhere, 0));
		tell(sigaltstack(nowhere, NULL));
		tell(sigaltstack(NULL, nowhere));
		by_number();
	}
	set_trap(SIG_UNBLOCK);
	say("handled %d", (int)handled);
	tell(prctl(PR_SET_SECCOMP, 2, nowhere));
	tell(syscall(SYS_seccomp, 1, 0, nowhere));
	noise_stop();
	return 0;
}
