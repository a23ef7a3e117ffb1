/* SPDX-License-Identifier: Apache-2.0 */
/* What registers held when their function was entered, in code assembled here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "insn/origin.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 };

/* A function; a thread stands at `place`. */
#define CODE(name, before, behind)                                                            \
	extern const uint8_t name##_start[], name##_place[], name##_end[];                    \
	__asm__(".pushsection .text\n" #name "_start:\n" before "\n" #name "_place:\n" behind \
		"\n" #name "_end:\n.popsection")

CODE(untouched, "mov %edi, %eax\nmovdqu (%rdi), %xmm0", "ret");
CODE(copied, "mov %rdi, %rdx\nor $31, %rdi", "ret");
CODE(added, "add $64, %rdi\nlea -8(%rdi), %rax\ndec %rsi\nsub $-16, %rsi", "ret");
CODE(two_ways, "test %esi, %esi\njz 1f\nadd $16, %rdi\n1:", "ret");
CODE(two_like_ways,
     "test %esi, %esi\njz 1f\nadd $16, %rdi\njmp 2f\n1: lea 16(%rdi), %rdi\n2:", "ret");
CODE(loop, "mov %rdi, %rax\n1: add $32, %rax\ncmpb $0, (%rax)\njne 1b", "ret");
CODE(back, "1: nop", "inc %rdi\ntest %esi, %esi\njnz 1b\nret");
CODE(called, "mov %rdi, %rbx\ncall untouched_start", "ret");
CODE(table, "lea (%rdi), %rax\ntest %esi, %esi\njz 1f\nadd $1, %rdi\njmp *%rdx\n1: ret\nnop",
     "ret");
CODE(behind_return, "ret", "ret");
CODE(half, "mov %edi, %edi\nmov %sil, %sil", "ret");
/* What stands behind the return is entered by exceptions alone. */
CODE(caught, "mov %rdi, %rbx\ncall untouched_start\n1:",
     "mov (%rbx), %eax\nret\nnopl 0(%rax)\nint3\nlea 8(%rsp), %rbx\njmp 1b");
CODE(cleaned, "mov %rdi, %rbx\ncall untouched_start",
     "mov (%rbx), %eax\nret\nmov %rbx, %rdi\ncall untouched_start\nud2");
/* … from the second of two calls, with what the register has there. */
CODE(caught_later, "mov %rdi, %rbx\ncall untouched_start\n1:",
     "mov (%rbx), %eax\nlea 8(%rbx), %rbx\ncall untouched_start\nret\nmov %rax, %rdi\njmp 1b");
CODE(padded, "mov %rdi, %rbx\njmp 1f\nnopl 0(%rax)\nxchg %ax, %ax\nint3\n1:", "ret");
CODE(exchanged, "xchg %rdi, %rsi", "ret");
CODE(overwritten, "mov (%rsi), %rsi", "ret");
CODE(entered, "mov %rdi, %rax\nmov %rsi, %rbx\nsyscall", "ret");

static struct insn_origin_work work;

static int look(const uint8_t *start, const uint8_t *place, const uint8_t *end,
		struct insn_origin origin[16])
{
	return insn_origins(start, (size_t)(end - start), (size_t)(place - start), NULL, &work,
			    origin);
}

#define EXPECT(name, register, from, by)                                                   \
	do {                                                                               \
		struct insn_origin origin[16];                                             \
                                                                                           \
		assert_int_equal(look(name##_start, name##_place, name##_end, origin), 0); \
		assert_int_equal(origin[register].number, from);                           \
		if ((from) != INSN_ORIGIN_NONE)                                            \
			assert_int_equal(origin[register].offset, by);                     \
	} while (0)

static void what_is_not_written_is_as_it_was(void **state)
{
	(void)state;
	EXPECT(untouched, RDI, RDI, 0);
	EXPECT(untouched, RAX, INSN_ORIGIN_NONE, 0);
	EXPECT(overwritten, RSI, INSN_ORIGIN_NONE, 0);
	EXPECT(half, RDI, INSN_ORIGIN_NONE, 0);
	EXPECT(half, RSI, INSN_ORIGIN_NONE, 0);
	EXPECT(exchanged, RDI, INSN_ORIGIN_NONE, 0);
	EXPECT(entered, RAX, INSN_ORIGIN_NONE, 0);
	EXPECT(entered, RCX, INSN_ORIGIN_NONE, 0);
	EXPECT(entered, RBX, RSI, 0);
}

static void copies_and_sums_are_known(void **state)
{
	(void)state;
	EXPECT(copied, RDX, RDI, 0);
	EXPECT(copied, RDI, INSN_ORIGIN_NONE, 0);
	EXPECT(added, RDI, RDI, 64);
	EXPECT(added, RAX, RDI, 56);
	EXPECT(added, RSI, RSI, 15);
}

static void what_differs_by_the_way_is_not(void **state)
{
	(void)state;
	EXPECT(two_ways, RDI, INSN_ORIGIN_NONE, 0);
	EXPECT(two_ways, RSI, RSI, 0);
	EXPECT(two_like_ways, RDI, RDI, 16);
	EXPECT(loop, RAX, INSN_ORIGIN_NONE, 0);
	EXPECT(loop, RDI, RDI, 0);
	EXPECT(back, RDI, INSN_ORIGIN_NONE, 0);
	EXPECT(table, RDI, INSN_ORIGIN_NONE, 0);
	EXPECT(table, RSI, RSI, 0);
}

static void calls_keep_what_they_must(void **state)
{
	(void)state;
	EXPECT(called, RBX, RDI, 0);
	EXPECT(called, RDI, INSN_ORIGIN_NONE, 0);
}

static void landing_pads_are_entered(void **state)
{
	(void)state;
	EXPECT(caught, RBX, INSN_ORIGIN_NONE, 0);
	EXPECT(caught, RSP, RSP, 0);
	EXPECT(cleaned, RBX, RDI, 0);
	EXPECT(caught_later, RBX, INSN_ORIGIN_NONE, 0);
	EXPECT(padded, RBX, RDI, 0);
}

static void another_part_leads_back(void **state)
{
	struct insn_entries entries = {{(uint32_t)(called_place - called_start)}, 1};
	struct insn_origin origin[16];

	(void)state;
	assert_int_equal(insn_origins(called_start, (size_t)(called_end - called_start),
				      entries.at[0], &entries, &work, origin),
			 0);
	for (int i = 0; i < 16; i++)
		assert_int_equal(origin[i].number, INSN_ORIGIN_NONE);
}

static void nothing_is_known_where_no_way_leads(void **state)
{
	struct insn_origin origin[16];

	(void)state;
	assert_true(look(behind_return_start, behind_return_place, behind_return_end, origin) < 0);
	/* An instruction cut off. */
	assert_true(insn_origins(added_start, (size_t)(added_place - added_start) - 1, 0, NULL,
				 &work, origin) < 0);
	assert_true(insn_origins(added_start, INSN_ORIGIN_CODE + 1, 0, NULL, &work, origin) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_written_is_as_it_was),
		cmocka_unit_test(copies_and_sums_are_known),
		cmocka_unit_test(what_differs_by_the_way_is_not),
		cmocka_unit_test(calls_keep_what_they_must),
		cmocka_unit_test(landing_pads_are_entered),
		cmocka_unit_test(another_part_leads_back),
		cmocka_unit_test(nothing_is_known_where_no_way_leads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
