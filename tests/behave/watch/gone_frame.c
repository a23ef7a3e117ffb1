/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A variable of a frame that is gone lies where the frame of a signal is written later on. The
 * stack is at an address that the test knows; each round the variable is written once, in its
 * frame, and `tick` once, when that frame is gone.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STACK 0x10000000ul
#define LENGTH 0x40000ul
#define VARIABLE 0x10020000ul
#define ROUNDS 50

volatile long tick;

static __attribute__((noinline)) void deep(long value)
{
	char *frame = alloca(8192);

	__asm__ volatile("" : : "r"(frame) : "memory");
	*(volatile long *)VARIABLE = value;
}

/* Down to half a page above the variable, so that a signal's frame covers it. */
static void *shallow(void *arg)
{
	char *room = alloca((uintptr_t)__builtin_frame_address(0) - VARIABLE - 1536);

	__asm__ volatile("" : : "r"(room) : "memory");
	for (long i = 1; i <= ROUNDS; i++) {
		deep(i);
		tick = i;
	}
	return arg;
}

int main(void)
{
	void *stack = mmap((void *)STACK, LENGTH, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	if (stack != (void *)STACK || pthread_attr_init(&attr) ||
	    pthread_attr_setstack(&attr, stack, LENGTH) ||
	    pthread_create(&thread, &attr, shallow, NULL))
		return 2;
	return pthread_join(thread, NULL) ? 2 : 0;
}
