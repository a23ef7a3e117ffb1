/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of a frame that is gone lie where the frame of a signal is written later on. The stack
 * is at an address that the test knows; each round both variables are written once, in their frame,
 * and `tick` once, when that frame is gone. With an argument it comes once from each depth: every
 * word that is written below the thread's stack comes to lie on one of the variables. With "reads"
 * the first variable is read at each depth, as what is left there. With "beside" a word right above
 * an alternate signal stack is read again and again, with equal registers each time.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STACK 0x10000000ul
#define LENGTH 0x40000ul
#define VARIABLE 0x10020000ul
#define ROUNDS 50
#define NEAREST 256 /* bytes from the variables to the frame above them */
#define FARTHEST 12288
#define STEP 16 /* of stacks, two words */
#define ALTERNATE 0x20000000ul
#define ALTERNATE_SIZE 0x8000ul

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

static __attribute__((noinline)) void read_below(uintptr_t above)
{
	char *room = alloca((uintptr_t)__builtin_frame_address(0) - VARIABLE - above);

	__asm__ volatile("" : : "r"(room) : "memory");
	(void)*(volatile long *)VARIABLE;
}

static void *reads(void *arg)
{
	for (uintptr_t above = NEAREST; above <= FARTHEST; above += STEP)
		read_below(above);
	return arg;
}

static void on_trap(int signal)
{
	(void)signal;
}

static void give_stack(void)
{
	struct sigaction action = {.sa_handler = on_trap, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = (void *)ALTERNATE, .ss_size = ALTERNATE_SIZE};

	if (mmap((void *)ALTERNATE, ALTERNATE_SIZE * 2, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)ALTERNATE ||
	    sigaltstack(&stack, NULL) || sigaction(SIGTRAP, &action, NULL))
		exit(2);
}

static void *beside(void *arg)
{
	volatile long *word = (void *)(ALTERNATE + ALTERNATE_SIZE);
	volatile long left = ROUNDS;

	give_stack();
	/* Neither registers nor flags differ from one read to the next. */
	__asm__ volatile("1: cmpq $0, %0\n\t"
			 "je 2f\n\t"
			 "subq $1, %0\n\t"
			 "xorl %%eax, %%eax\n\t"
			 "movq (%1), %%rax\n\t"
			 "jmp 1b\n"
			 "2:"
			 : "+m"(left)
			 : "r"(word)
			 : "rax", "cc", "memory");
	return arg;
}

static void *(*work_of(const char *name))(void *)
{
	if (!name)
		return shallow;
	if (!strcmp(name, "reads"))
		return reads;
	return strcmp(name, "beside") == 0 ? beside : every_depth;
}

int main(int argc, char **argv)
{
	void *(*work)(void *) = work_of(argc > 1 ? argv[1] : NULL);
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
