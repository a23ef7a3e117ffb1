/* SPDX-License-Identifier: Apache-2.0 */
/* Coroutines by swapcontext() and by a stack switch in assembly, on tiny heap stacks. */
#include "hostile.h"
#include <ucontext.h>

#define ROUNDS 3000
#define STACK (16 * 1024)

static ucontext_t main_context, coroutine_context;
static long yields;

static void coroutine(void)
{
	for (;;) {
		noise_counter++;
		yields++;
		swapcontext(&coroutine_context, &main_context);
	}
}

/* Saves the callee-saved registers, changes stacks, and returns on the other one. */
void switch_stacks(void **save, void *load);
__asm__(".text\n"
	".type switch_stacks, @function\n"
	"switch_stacks:\n\t"
	"pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
	"movq %rsp, (%rdi)\n\t"
	"movq %rsi, %rsp\n\t"
	"popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\t"
	"ret\n\t"
	".size switch_stacks, . - switch_stacks\n");

static void *main_stack, *hand_stack;
static long hand_yields;

static void hand_made(void)
{
	for (;;) {
		noise_counter++;
		hand_yields++;
		switch_stacks(&hand_stack, main_stack);
	}
}

int main(void)
{
	char *stack = malloc(STACK);
	void **volatile top = (void **)((uintptr_t)(stack + STACK) & ~(uintptr_t)15);

	expect(stack);
	noise_start();
	expect(getcontext(&coroutine_context) == 0);
	coroutine_context.uc_stack.ss_sp = malloc(STACK);
	coroutine_context.uc_stack.ss_size = STACK;
	expect(coroutine_context.uc_stack.ss_sp);
	makecontext(&coroutine_context, coroutine, 0);
	top -= 8;
	memset(top, 0, 8 * sizeof(*top));
	top[6] = (void *)hand_made;
	hand_stack = top;
	for (int i = 0; i < ROUNDS; i++) {
		swapcontext(&main_context, &coroutine_context);
		switch_stacks(&main_stack, hand_stack);
		nap(300);
	}
	noise_stop();
	say("%ld and %ld yields", yields, hand_yields);
	free(stack);
	free(coroutine_context.uc_stack.ss_sp);
	return 0;
}
