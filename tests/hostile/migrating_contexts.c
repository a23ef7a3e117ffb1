/* SPDX-License-Identifier: Apache-2.0 */
/* setcontext(): a context made in one thread goes on in another, and handlers are left by it. */
#include "hostile.h"
#include <ucontext.h>

#define ROUNDS 1000

static ucontext_t task, returns[2], out_of_handler;
static volatile int worker;
static volatile long steps, left;
static pthread_barrier_t turn;

static void task_body(void)
{
	for (;;) {
		noise_counter++;
		steps++;
		swapcontext(&task, &returns[worker]);
	}
}

static void *carry(void *arg)
{
	int self = arg != NULL;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&turn);
		if (i % 2 == self) {
			worker = self;
			swapcontext(&returns[self], &task);
		}
		pthread_barrier_wait(&turn);
		if (i % 10 == 0)
			nap(5000);
	}
	return arg;
}

static void on_signal(int number)
{
	(void)number;
	left++;
	setcontext(&out_of_handler);
}

static void leave_handlers(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
	volatile int rounds = 0;

	expect(sigaction(SIGUSR1, &action, NULL) == 0);
	expect(getcontext(&out_of_handler) == 0);
	if (rounds++ < ROUNDS) {
		noise_counter++;
		raise(SIGUSR1);
	}
}

int main(void)
{
	char *stack = malloc(32 * 1024);
	pthread_t other;

	expect(stack && getcontext(&task) == 0);
	task.uc_stack.ss_sp = stack;
	task.uc_stack.ss_size = 32 * 1024;
	makecontext(&task, task_body, 0);
	noise_start();
	expect(pthread_barrier_init(&turn, NULL, 2) == 0);
	expect(pthread_create(&other, NULL, carry, &task) == 0);
	carry(NULL);
	expect(pthread_join(other, NULL) == 0);
	leave_handlers();
	noise_stop();
	say("%ld steps in two threads, %ld handlers left", steps, left);
	free(stack);
	return 0;
}
