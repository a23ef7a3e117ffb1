/* SPDX-License-Identifier: Apache-2.0 */
/* The number of a system call that is not in the code in front of its instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/state.h"
#include "hit/arguments.h"
#include "process/space.h"
#include "reader/open.h"

/*
 * Code that nobody runs. `cancel` and `make` are as glibc has them from 2.41 on for calls at which
 * a thread may be cancelled (sysdeps/unix/sysv/linux/x86_64/syscall_cancel.S; nptl/cancellation.c):
 * the number is what `make` is called with on the stack. `any` is syscall(2). Nothing tells the
 * number of `none`.
 */
extern const uint8_t cancel_after[], make_after[], make_back[], make_single[], any_after[],
	any_back[], looked_on_back[], given_away_back[], none_after[];

__asm__(".text\n"
	".type cancel, @function\n"
	"cancel:\n"
	".cfi_startproc\n"
	"	mov (%rdi), %eax\n"
	"	testb $8, (%rdi)\n"
	"	jne cancel_leave\n"
	"	mov %rdi, %r11\n"
	"	mov %rsi, %rax\n"
	"	mov %rdx, %rdi\n"
	"	mov %rcx, %rsi\n"
	"	mov %r8, %rdx\n"
	"	mov %r9, %r10\n"
	"	mov 8(%rsp), %r8\n"
	"	mov 16(%rsp), %r9\n"
	"	mov %r11, 8(%rsp)\n"
	"	syscall\n"
	"cancel_after:\n"
	"	ret\n"
	"cancel_leave:\n"
	"	ud2\n"
	".cfi_endproc\n"
	".size cancel, . - cancel\n"

	".type make, @function\n"
	"make:\n"
	".cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset rbx, 0\n"
	"	mov %rcx, %r10\n"
	"	mov %fs:16, %rbx\n"
	"	mov 0x308(%rbx), %eax\n"
	"	test $1, %al\n"
	"	jne make_single\n"
	"	push %r9\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	lea 0x308(%rbx), %r11\n"
	"	mov %rcx, %r9\n"
	"	mov %rsi, %rcx\n"
	"	push %r8\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov 0x20(%rsp), %rsi\n"
	"	mov %rdx, %r8\n"
	"	mov %rdi, %rdx\n"
	"	mov %r11, %rdi\n"
	"	call cancel\n"
	"make_back:\n"
	"	pop %rcx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rbx\n"
	"	.cfi_remember_state\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"make_single:\n"
	"	.cfi_restore_state\n"
	"	mov 0x10(%rsp), %rax\n"
	"	syscall\n"
	"make_after:\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size make, . - make\n"

	".type any, @function\n"
	"any:\n"
	".cfi_startproc\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	mov %rcx, %rdx\n"
	"	syscall\n"
	"any_after:\n"
	"	ret\n"
	".cfi_endproc\n"
	".size any, . - any\n"

	".type uses_any, @function\n"
	"uses_any:\n"
	".cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %rdi, %rcx\n"
	"	mov $17, %edi\n"
	"	call any\n"
	"any_back:\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size uses_any, . - uses_any\n"

	/* As the preloaded library has it (agent/arch.h): what it calls says where to go on. */
	".type look_on, @function\n"
	"look_on:\n"
	"	endbr64\n"
	"	push %rdi\n"
	"	push %rsi\n"
	"	push %rdx\n"
	"	push %rcx\n"
	"	push %r8\n"
	"	push %r9\n"
	"	sub $8, %rsp\n"
	"	call none\n"
	"	add $8, %rsp\n"
	"	pop %r9\n"
	"	pop %r8\n"
	"	pop %rcx\n"
	"	pop %rdx\n"
	"	pop %rsi\n"
	"	pop %rdi\n"
	"	jmp *%rax\n"
	".size look_on, . - look_on\n"

	".type uses_look_on, @function\n"
	"uses_look_on:\n"
	".cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov $17, %edi\n"
	"	call look_on\n"
	"looked_on_back:\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size uses_look_on, . - uses_look_on\n"

	/* What it calls may change what it was called with. */
	".type give_away, @function\n"
	"give_away:\n"
	"	push %rdi\n"
	"	mov %rsp, %rdi\n"
	"	call none\n"
	"	pop %rdi\n"
	"	jmp *%rax\n"
	".size give_away, . - give_away\n"

	".type uses_give_away, @function\n"
	"uses_give_away:\n"
	".cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov $17, %edi\n"
	"	call give_away\n"
	"given_away_back:\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size uses_give_away, . - uses_give_away\n"

	".type none, @function\n"
	"none:\n"
	".cfi_startproc\n"
	"	mov (%rdi), %eax\n"
	"	syscall\n"
	"none_after:\n"
	"	ret\n"
	".cfi_endproc\n"
	".size none, . - none\n");

#define RSP 4 /* of the general registers, in the processor's order */

struct bench {
	struct symbol_session *session;
	struct space *space;
};

static int set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	assert_int_equal(symbol_session_open(&bench->session, NULL), 0);
	assert_int_equal(space_open(&bench->space, bench->session, getpid()), 0);
	*state = bench;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *bench = *state;

	space_close(bench->space);
	symbol_session_close(bench->session);
	free(bench);
	return 0;
}

/* Of a thread behind the instruction, whose stack is noted. */
static int number_at(struct bench *bench, const uint8_t *after, const uint64_t *stack,
		     unsigned words)
{
	struct insn_registers registers = {.pc = (uintptr_t)after};
	struct tl_stack noted = {.known = (1u << INSN_GENERAL) - 1,
				 .address = (uintptr_t)stack,
				 .length = words * sizeof(*stack),
				 .bytes = (const uint8_t *)stack};
	struct arguments_place place = {
		.space = bench->space, .pid = getpid(), .registers = &registers};

	registers.general[RSP] = noted.registers.general[RSP] = (uintptr_t)stack;
	noted.registers.pc = registers.pc;
	assert_int_equal(space_whole_function(bench->space, registers.pc, &place.start, &place.end),
			 0);
	return arguments_call_number(&place, &noted);
}

static void it_may_be_a_callers(void **state)
{
	/* The return address, what was pushed for the call, what it was called with. */
	const uint64_t stack[] = {(uintptr_t)make_back, 5, 6, 7, 0x1234, SYS_recvfrom, 0};

	assert_int_equal(number_at(*state, cancel_after, stack, 7), SYS_recvfrom);
}

static void it_may_be_on_the_stack(void **state)
{
	const uint64_t stack[] = {7, 0x1234, SYS_pwrite64, 0};

	assert_int_equal(number_at(*state, make_after, stack, 4), SYS_pwrite64);
}

static void it_may_be_an_argument(void **state)
{
	const uint64_t stack[] = {(uintptr_t)any_back, 0, 0x1234, 0};

	assert_int_equal(number_at(*state, any_after, stack, 4), SYS_pread64);
}

static void who_looks_on_keeps_it(void **state)
{
	const uint64_t stack[] = {(uintptr_t)looked_on_back, 0, 0x1234, 0};

	assert_int_equal(number_at(*state, any_after, stack, 4), SYS_pread64);
}

static void who_gives_it_away_may_not(void **state)
{
	const uint64_t stack[] = {(uintptr_t)given_away_back, 0, 0x1234, 0};

	assert_int_equal(number_at(*state, any_after, stack, 4), -1);
}

static void it_may_be_told_by_nothing(void **state)
{
	const uint64_t stack[] = {(uintptr_t)any_back, 0, 0x1234, 0};
	const uint64_t lost[] = {(uintptr_t)make_back, 5};

	assert_int_equal(number_at(*state, none_after, stack, 4), -1);
	/* Of the stack too little was noted. */
	assert_int_equal(number_at(*state, cancel_after, lost, 2), -1);
	assert_int_equal(number_at(*state, make_after, stack, 2), -1);
}

static void it_may_be_none(void **state)
{
	const uint64_t stack[] = {7, 0x1234, UINT64_MAX, 0};

	assert_int_equal(number_at(*state, make_after, stack, 4), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_may_be_a_callers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_may_be_on_the_stack, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_may_be_an_argument, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_looks_on_keeps_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_gives_it_away_may_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_may_be_told_by_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_may_be_none, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
