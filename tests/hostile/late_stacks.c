/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alternate stacks of the least size the kernel takes, given before the handlers that use them are
 * installed; what sigaction() then says of them is what was set.
 */
#include "hostile.h"
#include <sys/auxv.h>

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	(void)number;
	noise_counter++;
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void give_stack(void)
{
	size_t minimum = getauxval(AT_MINSIGSTKSZ);
	stack_t stack = {0};

	stack.ss_size = minimum ? minimum : MINSIGSTKSZ;
	stack.ss_sp = malloc(stack.ss_size);
	expect(stack.ss_sp && sigaltstack(&stack, NULL) == 0);
}

static void install(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK}, seen;

	sigaddset(&action.sa_mask, SIGUSR2);
	expect(sigaction(SIGUSR1, &action, NULL) == 0);
	expect(sigaction(SIGUSR1, NULL, &seen) == 0 && seen.sa_handler == on_signal);
	expect(sigismember(&seen.sa_mask, SIGUSR2) && !sigismember(&seen.sa_mask, SIGTRAP));
	expect(sigaction(SIGUSR1, &action, &seen) == 0 && !sigismember(&seen.sa_mask, SIGTRAP));
}

static void *body(void *arg)
{
	give_stack();
	for (int i = 0; i < 1000; i++) {
		raise(SIGUSR1);
		nap(500);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[4];

	give_stack();
	install();
	noise_start();
	for (int i = 0; i < 4; i++)
		expect(pthread_create(&threads[i], NULL, body, NULL) == 0);
	for (int i = 0; i < 4; i++)
		expect(pthread_join(threads[i], NULL) == 0);
	install();
	noise_stop();
	say("%d handled", handled);
	return 0;
}
