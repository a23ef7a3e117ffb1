/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGTRAP blocked and let in by functions that few programs call: sigpause() in both forms,
 * sigset() with SIG_HOLD, epoll_pwait2(), ppoll() as _FORTIFY_SOURCE has it, masks of thread
 * attributes, and rt_sigprocmask(2) by number.
 */
#include "trap.h"
#include <poll.h>
#include <sys/epoll.h>
#include <threads.h>

extern int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
extern int sigpause_of_bsd(int) __asm__("sigpause");
extern int sigpause_of_posix(int) __asm__("__xpg_sigpause");

/* One waits already; where the call does not let it in, the time is over. */
static void begin(void)
{
	handled = 0;
	expect(raise(SIGTRAP) == 0 && !handled);
	alarm(20);
}

static void end(const char *how, int result)
{
	int err = errno;

	alarm(0);
	say("%s: %d, %d, handled %d, blocked %d", how, result, err, handled, trap_is_blocked());
}

static void waits(void)
{
	const struct timespec second = {1, 0};
	struct epoll_event event;
	sigset_t open;
	int poller = epoll_create1(EPOLL_CLOEXEC), result;

	sigemptyset(&open);
	begin();
	result = sigpause_of_bsd(0);
	end("sigpause, BSD's", result);
	begin();
	result = sigpause_of_posix(SIGTRAP);
	end("sigpause, POSIX's", result);
	begin();
	result = epoll_pwait2(poller, &event, 1, &second, &open);
	end("epoll_pwait2", result);
	begin();
	result = __ppoll_chk(NULL, 0, &second, &open, 0);
	end("ppoll, fortified", result);
	close(poller);
}

static void *look(void *argument)
{
	say("%s: blocked %d", (const char *)argument, trap_is_blocked());
	return argument;
}

static int look_thrd(void *argument)
{
	return look(argument) == NULL;
}

static void in_thread(const char *who, const pthread_attr_t *attributes)
{
	pthread_t thread;

	expect(pthread_create(&thread, attributes, look, (void *)who) == 0);
	expect(pthread_join(thread, NULL) == 0);
}

static void attributes(void)
{
	sigset_t none, trap = trap_alone();
	pthread_attr_t attributes;
	thrd_t thread;

	sigemptyset(&none);
	expect(pthread_attr_init(&attributes) == 0);
	in_thread("attributes without mask", &attributes);
	expect(pthread_attr_setsigmask_np(&attributes, &none) == 0);
	in_thread("attributes with none", &attributes);
	expect(pthread_attr_setsigmask_np(&attributes, &trap) == 0);
	in_thread("attributes with SIGTRAP", &attributes);
	expect(pthread_setattr_default_np(&attributes) == 0);
	in_thread("default with SIGTRAP", NULL);
	expect(thrd_create(&thread, look_thrd, (void *)"default, thrd_create") == thrd_success);
	expect(thrd_join(thread, NULL) == thrd_success);
	expect(pthread_attr_setsigmask_np(&attributes, NULL) == 0);
	expect(pthread_setattr_default_np(&attributes) == 0);
	in_thread("no attributes", NULL);
	pthread_attr_destroy(&attributes);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void by_sigset(void)
{
	sighandler_t old = sigset(SIGTRAP, SIG_HOLD);

	say("held: %d, blocked %d", old == on_trap, trap_is_blocked());
	begin();
	say("held again: %d", sigset(SIGTRAP, SIG_HOLD) == SIG_HOLD);
	old = sigset(SIGTRAP, on_trap);
	end("let go", old == SIG_HOLD);
}

static void by_number(void)
{
	const uint64_t trap = 1ull << (SIGTRAP - 1), all = ~0ull;
	uint64_t before = 0;
	long result;

	result = syscall(SYS_rt_sigprocmask, SIG_BLOCK, &trap, NULL, sizeof(trap));
	say("by number: %ld, blocked %d", result, trap_is_blocked());
	begin();
	result = syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	say("by number: %ld, before %d, handled %d", result, (before & trap) != 0, handled);
	result = syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	say("by number: %ld, blocked %d", result, trap_is_blocked());
	result = syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &trap, NULL, sizeof(trap));
	end("by number", (int)result);
	result = syscall(SYS_rt_sigprocmask, SIG_BLOCK, (void *)8, NULL, sizeof(trap));
	say("unreadable: %ld, %d", result, errno);
	result = syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, (void *)8, sizeof(trap));
	say("unwritable: %ld, %d", result, errno);
	result = syscall(SYS_rt_sigprocmask, SIG_BLOCK, &trap, (void *)8, sizeof(trap));
	say("unwritable: %ld, %d, blocked %d", result, errno, trap_is_blocked());
	result = syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &trap, (void *)8, sizeof(trap));
	say("unwritable: %ld, %d, blocked %d", result, errno, trap_is_blocked());
	result = syscall(SYS_rt_sigprocmask, SIG_BLOCK, &trap, NULL, 4L);
	say("too short: %ld, %d", result, errno);
	result = syscall(SYS_rt_sigprocmask, 77, &trap, NULL, sizeof(trap));
	say("no such way: %ld, %d", result, errno);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_trap};
	sigset_t trap = trap_alone();

	expect(sigaction(SIGTRAP, &action, NULL) == 0);
	noise_start();
	attributes();
	by_sigset();
	by_number();
	expect(pthread_sigmask(SIG_BLOCK, &trap, NULL) == 0);
	attributes();
	waits();
	nap(1500000);
	noise_stop();
	return 0;
}
