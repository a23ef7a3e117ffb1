/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers on alternate stacks of the minimum size, while noise goes on in the same threads. */
#include "hostile.h"
#include <sys/auxv.h>

static volatile sig_atomic_t handled, outside;
static __thread char *stack_low;
static __thread size_t stack_size;

static void on_signal(int number)
{
	char here;

	(void)number;
	if (&here < stack_low || &here >= stack_low + stack_size)
		outside = 1;
	noise_counter++;
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void *body(void *arg)
{
	size_t minimum = getauxval(AT_MINSIGSTKSZ);
	stack_t stack = {0}, seen;

	stack_size = minimum ? minimum : MINSIGSTKSZ;
	stack_low = malloc(stack_size);
	stack.ss_sp = stack_low;
	stack.ss_size = stack_size;
	expect(stack_low && sigaltstack(&stack, NULL) == 0);
	for (int i = 0; i < 1000; i++) {
		raise(SIGUSR1);
		nap(500);
	}
	expect(sigaltstack(NULL, &seen) == 0);
	expect(seen.ss_sp == stack_low && seen.ss_size == stack_size && seen.ss_flags == 0);
	stack.ss_flags = SS_DISABLE;
	expect(sigaltstack(&stack, NULL) == 0);
	free(stack_low);
	return arg;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	pthread_t threads[4];

	expect(sigaction(SIGUSR1, &action, NULL) == 0);
	noise_start();
	for (int i = 0; i < 4; i++)
		expect(pthread_create(&threads[i], NULL, body, NULL) == 0);
	for (int i = 0; i < 4; i++)
		expect(pthread_join(threads[i], NULL) == 0);
	noise_stop();
	say("%d handled, %s their stacks", handled, outside ? "outside" : "all on");
	return outside;
}
