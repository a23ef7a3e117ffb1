/* SPDX-License-Identifier: Apache-2.0 */
/* A handler on an alternate stack survives the overflow of the thread's own stack. */
#include "hostile.h"
#include <setjmp.h>

static sigjmp_buf out;
static volatile int overflows;
static volatile int depth_sum;

static void on_fault(int number)
{
	siglongjmp(out, number);
}

__attribute__((noinline)) static int recurse(int depth)
{
	volatile char space[1024];

	space[depth & 1023] = (char)depth;
	noise_counter++;
	return depth < 0 ? 0 : recurse(depth + 1) + space[depth & 1023];
}

static void *body(void *arg)
{
	stack_t stack = {.ss_sp = malloc(64 * 1024), .ss_size = 64 * 1024};

	(void)arg;
	expect(stack.ss_sp && sigaltstack(&stack, NULL) == 0);
	while (overflows < 50) {
		if (sigsetjmp(out, 1) == 0)
			depth_sum += recurse(0);
		overflows++;
		nap(20000);
	}
	stack.ss_flags = SS_DISABLE;
	expect(sigaltstack(&stack, NULL) == 0);
	return NULL;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
	pthread_t thread;

	expect(sigaction(SIGSEGV, &action, NULL) == 0);
	noise_start();
	expect(pthread_create(&thread, NULL, body, NULL) == 0);
	expect(pthread_join(thread, NULL) == 0);
	noise_stop();
	say("%d overflows survived", overflows);
	return 0;
}
