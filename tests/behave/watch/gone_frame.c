/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of a frame that is gone lie where the frame of a signal is written later on. The stack
 * is at an address that the test knows; each round both variables are written once, in their frame,
 * and `tick` once, when that frame is gone. With an argument it comes once from each depth: every
 * word that is written below the thread's stack comes to lie on one of the variables.
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
#define NEAREST 256 /* bytes from the variables to the frame above them */
#define FARTHEST 12288
#define STEP 16 /* of stacks, two words */

volatile long tick;

static __attribute__((noinline)) void deep(long value)
{
	char *frame = alloca(16384);

	__asm__ volatile("" : : "r"(frame) : "memory");
	((volatile long *)VARIABLE)[0] = value;
	((volatile long *)VARIABLE)[1] = value;
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

static __attribute__((noinline)) void touch(uintptr_t above)
{
	char *room = alloca((uintptr_t)__builtin_frame_address(0) - VARIABLE - above);

	__asm__ volatile("" : : "r"(room) : "memory");
	deep((long)above);
	tick = (long)above;
}

static void *every_depth(void *arg)
{
	for (uintptr_t above = NEAREST; above <= FARTHEST; above += STEP)
		touch(above);
	return arg;
}

int main(int argc, char **argv)
{
	void *(*work)(void *) = argc > 1 ? every_depth : shallow;
	void *stack = mmap((void *)STACK, LENGTH, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	if (stack != (void *)STACK || pthread_attr_init(&attr) ||
	    pthread_attr_setstack(&attr, stack, LENGTH) ||
	    pthread_create(&thread, &attr, work, argv))
		return 2;
	return pthread_join(thread, NULL) ? 2 : 0;
}
