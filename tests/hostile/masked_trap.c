/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks SIGTRAP, sends it, and lets it in with each call that opens the mask for its own time. */
#include "hostile.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

static volatile sig_atomic_t handled, last_code;

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	handled++;
	last_code = info->si_code;
}

static void *send(void *arg)
{
	nap(100000);
	expect(kill(getpid(), SIGTRAP) == 0);
	return arg;
}

/* Sent while the main thread already waits. */
static pthread_t send_later(void)
{
	pthread_t thread;

	expect(pthread_create(&thread, NULL, send, NULL) == 0);
	return thread;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	struct timespec long_time = {20, 0};
	sigset_t trap, open, pending;
	struct epoll_event event;
	pthread_t sender;
	siginfo_t info;
	pid_t child;
	int poller;

	sigemptyset(&open);
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	expect(sigaction(SIGTRAP, &action, NULL) == 0);
	expect(pthread_sigmask(SIG_BLOCK, &trap, NULL) == 0);
	noise_start();
	expect(sigpending(&pending) == 0 && !sigismember(&pending, SIGTRAP));
	raise(SIGTRAP);
	expect(sigpending(&pending) == 0 && sigismember(&pending, SIGTRAP) && !handled);
	child = fork();
	if (child == 0) {
		expect(sigpending(&pending) == 0 && !sigismember(&pending, SIGTRAP));
		_exit(4);
	}
	say_end("child", child);
	expect(sigsuspend(&open) == -1 && errno == EINTR && handled == 1);
	expect(sigpending(&pending) == 0 && !sigismember(&pending, SIGTRAP));
	say("sigsuspend lets one in, code %s", last_code == SI_TKILL ? "SI_TKILL" : "other");
	expect(kill(getpid(), SIGTRAP) == 0);
	expect(ppoll(NULL, 0, &long_time, &open) == -1 && errno == EINTR && handled == 2);
	say("ppoll lets one in, code %s", last_code == SI_USER ? "SI_USER" : "other");
	sender = send_later();
	expect(pselect(0, NULL, NULL, NULL, &long_time, &open) == -1 && errno == EINTR);
	expect(handled == 3 && pthread_join(sender, NULL) == 0);
	poller = epoll_create1(EPOLL_CLOEXEC);
	sender = send_later();
	expect(poller >= 0 && epoll_pwait(poller, &event, 1, 20000, &open) == -1 && errno == EINTR);
	expect(handled == 4 && pthread_join(sender, NULL) == 0);
	sender = send_later();
	expect(sigwaitinfo(&trap, &info) == SIGTRAP && info.si_code == SI_USER);
	expect(info.si_pid == getpid() && handled == 4 && pthread_join(sender, NULL) == 0);
	say("sigwaitinfo takes one that comes later");
	raise(SIGTRAP);
	nap(1500000);
	expect(handled == 4 && pthread_sigmask(SIG_UNBLOCK, &trap, NULL) == 0 && handled == 5);
	say("and unblocking does");
	expect(close(poller) == 0);
	noise_stop();
	return 0;
}
