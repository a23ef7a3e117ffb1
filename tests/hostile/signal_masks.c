/* SPDX-License-Identifier: Apache-2.0 */
/* Masks restored by jumps; sigsuspend, ppoll and pselect with masks of their own; interrupted
 * system calls say EINTR. */
#include "trap.h"
#include <poll.h>
#include <setjmp.h>
#include <sys/select.h>
#include <ucontext.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* The functions of before, and a shell that has its masks from them (Debian's). */
static void by_old_functions(void)
{
	int trap = 1 << (SIGTRAP - 1), before = handled, mask;

	set_trap(SIG_UNBLOCK);
	mask = sigblock(trap);
	say("old: before %d", (mask & trap) != 0);
	raise(SIGTRAP);
	say("old: blocked %d, handled %d", (siggetmask() & trap) != 0, (int)handled - before);
	sigsetmask(mask);
	say("old: blocked %d, handled %d", trap_is_blocked(), (int)handled - before);
	expect(sighold(SIGTRAP) == 0);
	raise(SIGTRAP);
	say("old: blocked %d, handled %d", trap_is_blocked(), (int)handled - before);
	expect(sigrelse(SIGTRAP) == 0);
	say("old: blocked %d, handled %d", trap_is_blocked(), (int)handled - before);
	say("shell: %d", system("/bin/true; kill -TRAP $$; exit 3"));
	say("shell: %d", system("trap 'exit 5' TRAP; /bin/true; kill -TRAP $$; exit 3"));
	handled = 0;
}

/* Saved while SIGTRAP was `how`; one comes while it is the contrary. */
static void by_jump(int how, int save)
{
	volatile int before = handled;
	sigjmp_buf to;

	set_trap(how);
	if (sigsetjmp(to, save) == 0) {
		set_trap(how == SIG_BLOCK ? SIG_UNBLOCK : SIG_BLOCK);
		raise(SIGTRAP);
		siglongjmp(to, 1);
	}
	say("jump: blocked %d, handled %d", trap_is_blocked(), (int)handled - before);
	set_trap(SIG_UNBLOCK);
	say("jump: handled %d", (int)handled - before);
}

static void by_context(int how)
{
	volatile int before = handled, back = 0;
	ucontext_t to;

	set_trap(how);
	expect(getcontext(&to) == 0);
	if (!back++) {
		set_trap(how == SIG_BLOCK ? SIG_UNBLOCK : SIG_BLOCK);
		raise(SIGTRAP);
		setcontext(&to);
	}
	say("context: blocked %d, handled %d", trap_is_blocked(), (int)handled - before);
	set_trap(SIG_UNBLOCK);
}

static ucontext_t main_context, other_context;

static void other(void)
{
	for (;;) {
		set_trap(SIG_BLOCK);
		expect(swapcontext(&other_context, &main_context) == 0);
		say("other: blocked %d", trap_is_blocked());
	}
}

static void by_swap(void)
{
	static char stack[65536];

	expect(getcontext(&other_context) == 0);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = sizeof(stack);
	makecontext(&other_context, other, 0);
	for (int i = 0; i < 3; i++) {
		expect(swapcontext(&main_context, &other_context) == 0);
		say("main: blocked %d", trap_is_blocked());
	}
}

static void test_jumps(void)
{
	struct sigaction action = {.sa_handler = on_trap};

	expect(sigaction(SIGTRAP, &action, NULL) == 0);
	by_jump(SIG_UNBLOCK, 1);
	by_jump(SIG_BLOCK, 1);
	by_jump(SIG_UNBLOCK, 0);
	by_jump(SIG_BLOCK, 0);
	by_context(SIG_UNBLOCK);
	by_context(SIG_BLOCK);
	by_swap();
	handled = 0;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_trap};
	struct timespec long_time = {20, 0};
	sigset_t blocked, open;
	char byte;
	int ends[2];

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigemptyset(&open);
	expect(pthread_sigmask(SIG_BLOCK, &blocked, NULL) == 0);
	noise_start();
	test_jumps();
	by_old_functions();
	expect(sigaction(SIGUSR1, &action, NULL) == 0 && pipe(ends) == 0);
	for (int i = 0; i < 200; i++) {
		raise(SIGUSR1);
		expect(handled == 3 * i);
		expect(sigsuspend(&open) == -1 && errno == EINTR && handled == 3 * i + 1);
		raise(SIGUSR1);
		expect(ppoll(NULL, 0, &long_time, &open) == -1 && errno == EINTR);
		expect(handled == 3 * i + 2);
		raise(SIGUSR1);
		expect(pselect(0, NULL, NULL, NULL, &long_time, &open) == -1 && errno == EINTR);
		nap(5000);
	}
	say("%d handled", handled);
	/* Without signals of its own, a sleeping read must not be cut short. */
	expect(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
	expect(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
	noise_stop();
	return 0;
}
