/* SPDX-License-Identifier: Apache-2.0 */
/* Handles SIGTRAP itself: from raise, int3 and TF, with SA_RESETHAND and SA_NODEFER. */
#include "hostile.h"
#include <ucontext.h>

static volatile sig_atomic_t raised, broken, stepped, other;
static volatile sig_atomic_t steps_left, depth, deepest;

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	expect(number == SIGTRAP);
	if (info->si_code == SI_TKILL || info->si_code == SI_USER) {
		raised++;
	} else if (info->si_code == TRAP_TRACE || info->si_code == TRAP_HWBKPT) {
		stepped++;
		if (--steps_left <= 0)
			user->uc_mcontext.gregs[REG_EFL] &= ~0x100LL;
	} else if (info->si_code == SI_KERNEL || info->si_code == TRAP_BRKPT) {
		broken++;
	} else {
		other++;
	}
}

static void on_nested(int number)
{
	if (++depth > deepest)
		deepest = depth;
	if (depth < 5)
		raise(number);
	depth--;
}

static void install(void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = flags}, old;

	expect(sigaction(SIGTRAP, &action, NULL) == 0);
	expect(sigaction(SIGTRAP, NULL, &old) == 0);
	expect(old.sa_sigaction == handler && (old.sa_flags & flags) == flags);
}

/* Some that the kernel does not know are among them. */
static void say_action(const char *when)
{
	struct sigaction old;

	expect(sigaction(SIGTRAP, NULL, &old) == 0);
	say("%s the flags are %x, with a restorer %d", when, (unsigned)old.sa_flags,
	    old.sa_restorer != NULL);
}

int main(void)
{
	struct sigaction nested = {.sa_handler = on_nested, .sa_flags = SA_NODEFER}, old;

	noise_start();
	install(on_trap, SA_SIGINFO);
	for (int i = 0; i < 100; i++) {
		raise(SIGTRAP);
		__asm__ volatile("int3");
		nap(5000);
	}
	say("%d raised, %d by int3, %d of unknown code", raised, broken, other);
	steps_left = 20;
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; .rept 40; nop; .endr" : : : "memory");
	say("%d single steps", stepped);
	install(on_trap, SA_SIGINFO | SA_RESETHAND);
	say_action("before SA_RESETHAND");
	raise(SIGTRAP);
	say_action("after SA_RESETHAND");
	expect(sigaction(SIGTRAP, NULL, &old) == 0);
	say("after SA_RESETHAND the disposition is %s",
	    old.sa_handler == SIG_DFL ? "default" : "something else");
	expect(sigaction(SIGTRAP, &nested, NULL) == 0);
	raise(SIGTRAP);
	say("SA_NODEFER nests %d deep", deepest);
	expect(signal(SIGTRAP, SIG_ERR) == SIG_ERR && errno == EINVAL);
	nested.sa_flags |= 0x1000400;
	sigfillset(&nested.sa_mask);
	expect(sigaction(SIGTRAP, &nested, NULL) == 0 && sigaction(SIGTRAP, NULL, &old) == 0);
	say("a full mask has SIGKILL %d, SIGSTOP %d, SIGUSR1 %d",
	    sigismember(&old.sa_mask, SIGKILL), sigismember(&old.sa_mask, SIGSTOP),
	    sigismember(&old.sa_mask, SIGUSR1));
	say_action("with unknown ones");
	nap(500000);
	noise_stop();
	return other != 0;
}
