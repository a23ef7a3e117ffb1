/* SPDX-License-Identifier: Apache-2.0 */
/* Which accesses are foretold to be made through a pointer, and which are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "reader/open.h"
#include "stack/foretell.h"

#define RAX 0
#define RBX 3
#define RSP 4
#define RDI 7
#define RESULT (1u << RAX)

/* What follows is nothing that can be decoded. */
#define CODE(name, code)                                                                  \
	extern const char name[];                                                         \
	__asm__(".text\n.p2align 4\n" #name ":\n" code "\n.byte 0x06, 0x06, 0x06, 0x06\n" \
		".p2align 4\n")

CODE(loads, "nop\n mov (%rax),%rcx");
CODE(pushes, "pushq (%rax)");
CODE(loads_beside, "mov (%rbx),%rcx");
/* Through the pointer to elsewhere, which is then where another pointer is loaded from. */
CODE(stores_first, "mov %rbx,8(%rax)\n mov (%rdi),%rdx\n mov (%rdx),%rcx");
CODE(stores_beside, "mov %rbx,(%rdi)\n mov (%rax),%rcx");

/* A part of the register is set, and the whole of it is used. */
CODE(leaves_over, "mov $0x20,%al\n movzbl %al,%eax\n mov (%rbx,%rax),%rcx");
CODE(adds, "add $8,%rax\n mov (%rax),%rcx");

/* The branch depends on vector registers, which are not known, or on what is. */
CODE(guesses, "xorps %xmm0,%xmm1\n ucomiss %xmm0,%xmm1\n jne 1f\n mov (%rax),%rcx\n1:");
CODE(knows, "xor %ecx,%ecx\n jne 1f\n mov (%rax),%rcx\n1:");

static uint64_t gone[32], stack[64], word;

struct bench {
	struct symbol_session *session;
	struct space *space;
};

static int set_up(void **state)
{
	static struct bench bench;

	*state = &bench;
	return symbol_session_open(&bench.session, NULL) ||
	       space_open(&bench.space, bench.session, getpid());
}

static int tear_down(void **state)
{
	struct bench *bench = *state;

	space_close(bench->space);
	symbol_session_close(bench->session);
	return 0;
}

static struct insn_registers registers_at(const char *code)
{
	struct insn_registers registers = {.pc = (uintptr_t)code};

	registers.general[RAX] = (uintptr_t)&gone[4];
	registers.general[RBX] = (uintptr_t)&gone[8];
	registers.general[RSP] = (uintptr_t)&stack[32];
	registers.general[RDI] = (uintptr_t)&word;
	return registers;
}

static bool is_foretold(void **state, const struct insn_registers *registers, struct foretold *use)
{
	struct bench *bench = *state;

	return foretell_use(bench->space, registers, RESULT, 0, (uintptr_t)gone,
			    (uintptr_t)(gone + sizeof(gone) / sizeof(gone[0])), use);
}

static void an_access_through_the_pointer(void **state)
{
	struct insn_registers registers = registers_at(loads);
	struct foretold use;

	assert_true(is_foretold(state, &registers, &use));
	assert_int_equal(use.pc, registers.pc + 1);
	assert_int_equal(use.next, registers.pc + 4);
	assert_int_equal(use.address, registers.general[RAX]);
	assert_int_equal(use.stack, registers.general[RSP]);
	registers = registers_at(stores_beside);
	assert_true(is_foretold(state, &registers, &use));
	assert_int_equal(use.pc, registers.pc + 3);
}

static void the_stack_pointer_is_that_before_it(void **state)
{
	struct insn_registers registers = registers_at(pushes);
	struct foretold use;

	assert_true(is_foretold(state, &registers, &use));
	assert_int_equal(use.stack, registers.general[RSP]);
}

static void an_access_through_another_pointer(void **state)
{
	struct insn_registers registers = registers_at(loads_beside);
	struct foretold use;

	assert_false(is_foretold(state, &registers, &use));
}

/* The pointer that is loaded is the one that was stored: it comes from no result. */
static void what_a_store_through_it_may_have_changed_is_not_known(void **state)
{
	struct insn_registers registers = registers_at(stores_first);
	struct foretold use;

	registers.general[RAX] = (uintptr_t)&word - 8;
	assert_false(is_foretold(state, &registers, &use));
}

/* What is left of the pointer is no address, and where the access goes does not go with it. */
static void an_access_that_stays_where_it_is(void **state)
{
	struct insn_registers registers = registers_at(leaves_over);
	struct foretold use;

	registers.general[RAX] = 8;
	registers.general[RBX] = (uintptr_t)gone;
	assert_false(is_foretold(state, &registers, &use));
	registers = registers_at(adds);
	assert_true(is_foretold(state, &registers, &use));
	assert_int_equal(use.address, registers.general[RAX] + 8);
}

static void whether_the_way_was_guessed(void **state)
{
	struct insn_registers registers = registers_at(guesses);
	struct foretold use;

	assert_true(is_foretold(state, &registers, &use));
	assert_true(use.guessed);
	registers = registers_at(knows);
	assert_true(is_foretold(state, &registers, &use));
	assert_false(use.guessed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_access_through_the_pointer),
		cmocka_unit_test(the_stack_pointer_is_that_before_it),
		cmocka_unit_test(an_access_through_another_pointer),
		cmocka_unit_test(an_access_that_stays_where_it_is),
		cmocka_unit_test(whether_the_way_was_guessed),
		cmocka_unit_test(what_a_store_through_it_may_have_changed_is_not_known),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
