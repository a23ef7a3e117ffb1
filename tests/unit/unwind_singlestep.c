/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strongest test of the unwinder: code runs with the trap flag set, and after every single
 * instruction, in prologues, epilogues, PLT stubs, libc and the vdso, the unwound return addresses
 * are compared with a record kept by watching calls and returns.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "unwind/unwind.h"

#define DEPTH 128

int nest_O0(int rounds);
int nest_O1(int rounds);
int nest_O2(int rounds);
int nest_Os(int rounds);
int nest_fp(int rounds);
int nest_cpp(int rounds);

struct call {
	uint64_t slot; /* where the return address lies */
	uint64_t return_address;
};

static struct {
	struct call calls[DEPTH];
	size_t depth;
	uint64_t last_pc;
	uint64_t last_stack;
	unsigned long steps;
	unsigned long wrong;
	unsigned long incomplete;
	unsigned long leaving;
	bool begun;
} shadow;

static bool is_call(uint64_t pc)
{
	const uint8_t *code = (const uint8_t *)pc;

	while (*code == 0x66 || *code == 0x67 || *code == 0xf2 || *code == 0x3e ||
	       (*code & 0xf0) == 0x40)
		code++;
	return *code == 0xe8 || (*code == 0xff && (code[1] & 0x38) == 0x10);
}

static void begin(const ucontext_t *context)
{
	uintptr_t pcs[DEPTH];
	int complete, count = unwind_backtrace(context, pcs, DEPTH, &complete);

	/* Frames below the test are taken as they are: above them everything is checked. */
	for (int i = count - 1; i > 0; i--)
		shadow.calls[shadow.depth++] = (struct call){UINT64_MAX, pcs[i]};
	shadow.begun = true;
}

static void follow(uint64_t pc, uint64_t stack)
{
	if (stack == shadow.last_stack - 8 && is_call(shadow.last_pc))
		shadow.calls[shadow.depth++] = (struct call){stack, *(uint64_t *)stack};
	while (shadow.calls[shadow.depth - 1].slot < stack)
		shadow.depth--;
	shadow.last_pc = pc;
	shadow.last_stack = stack;
}

static void describe(const char *what, uint64_t pc)
{
	Dl_info info = {0};

	dladdr((void *)pc, &info);
	fprintf(stderr, "  %s %#lx %s+%#lx in %s\n", what, (unsigned long)pc,
		info.dli_sname ? info.dli_sname : "?",
		info.dli_sname ? (unsigned long)(pc - (uintptr_t)info.dli_saddr)
			       : (unsigned long)(pc - (uintptr_t)info.dli_fbase),
		info.dli_fname ? info.dli_fname : "?");
}

static bool is_inside(uint64_t pc, void *function)
{
	uintptr_t start, end;

	return unwind_function_bounds((uintptr_t)function, &start, &end) == 0 && pc >= start &&
	       pc < end;
}

/* glibc's __longjmp() is a local symbol: what siglongjmp() calls last. */
static bool is_inside_longjmp(uint64_t pc)
{
	static uintptr_t start, end;

	if (shadow.depth &&
	    is_inside(shadow.calls[shadow.depth - 1].return_address - 1, (void *)siglongjmp))
		unwind_function_bounds(pc, &start, &end);
	return pc >= start && pc < end;
}

/*
 * longjmp() and the exception unwinder install the context they leave for step by step; glibc's
 * and GCC's tables say, meanwhile, that the caller is where they go. Not a wrong answer.
 */
static bool is_leaving(void)
{
	for (size_t i = 0; i < shadow.depth; i++) {
		uint64_t place = shadow.calls[i].return_address - 1;

		if (is_inside(place, (void *)_Unwind_RaiseException) ||
		    is_inside(place, (void *)_Unwind_Resume))
			return true;
	}
	return is_inside_longjmp(shadow.last_pc) ||
	       is_inside(shadow.last_pc, (void *)_Unwind_RaiseException) ||
	       is_inside(shadow.last_pc, (void *)_Unwind_Resume);
}

static void compare(const ucontext_t *context)
{
	uintptr_t pcs[DEPTH];
	int complete, count = unwind_backtrace(context, pcs, DEPTH, &complete);
	bool right = count == (int)shadow.depth + 1;

	for (size_t i = 0; right && i < shadow.depth; i++)
		right = pcs[i + 1] == shadow.calls[shadow.depth - 1 - i].return_address;
	if (!right && is_leaving()) {
		shadow.leaving++;
		return;
	}
	shadow.incomplete += !complete;
	if (right || shadow.wrong++ > 2)
		return;
	fprintf(stderr, "step %lu: %d frames, should be %zu\n", shadow.steps, count,
		shadow.depth + 1);
	describe("at", pcs[0]);
	for (int i = 1; i < count || (size_t)i < shadow.depth + 1; i++) {
		if (i < count)
			describe("unwound", pcs[i]);
		if ((size_t)i < shadow.depth + 1)
			describe("real", shadow.calls[shadow.depth - (size_t)i].return_address);
	}
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	if (!shadow.begun)
		begin(interrupted);
	follow((uint64_t)interrupted->uc_mcontext.gregs[REG_RIP],
	       (uint64_t)interrupted->uc_mcontext.gregs[REG_RSP]);
	shadow.steps++;
	compare(interrupted);
}

static inline __attribute__((always_inline)) void set_trap_flag(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushf\n\torq $0x100, (%%rsp)\n\tpopf\n\t"
			 "lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
}

static inline __attribute__((always_inline)) void clear_trap_flag(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushf\n\tandq $~0x100, (%%rsp)\n\tpopf\n\t"
			 "lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
}

static int walk(const char *name, int (*function)(int), int rounds)
{
	memset(&shadow, 0, sizeof(shadow));
	set_trap_flag();
	function(rounds);
	clear_trap_flag();
	printf("%s: %lu instructions, %lu wrong, %lu incomplete, %lu while leaving\n", name,
	       shadow.steps, shadow.wrong, shadow.incomplete, shadow.leaving);
	return shadow.wrong || shadow.incomplete || shadow.steps < 1000 ||
	       shadow.leaving * 100 > shadow.steps;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	int bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGTRAP, &action, NULL);
	bad |= walk("-O0", nest_O0, 3);
	bad |= walk("-O1", nest_O1, 3);
	bad |= walk("-O2", nest_O2, 3);
	bad |= walk("-Os", nest_Os, 3);
	bad |= walk("-O2 with frame pointers", nest_fp, 3);
	bad |= walk("C++", nest_cpp, 1);
	return bad;
}
