/* SPDX-License-Identifier: Apache-2.0 */
/* Where functions are entered from parts of them that lie elsewhere, in code assembled here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "process/entries.h"
#include "reader/open.h"

/* A piece with an entry of its own in the unwind tables. */
#define PIECE(name, text)                                                     \
	extern const uint8_t name##_start[], name##_back[], name##_end[];     \
	__asm__(".pushsection .text\n" #name "_start:\n.cfi_startproc\n" text \
		"\n.cfi_endproc\n" #name "_end:\n.popsection")

PIECE(hot, "test %edi, %edi\nje cold_start\nhot_back: mov (%rdi), %eax\nret");
PIECE(cold, "mov %rsp, %rdi\njmp hot_back\ncold_back: ret");
/* Two blocks of the part elsewhere: one is its midst. */
PIECE(wide, "test %edi, %edi\nje rare_start\ntest %esi, %esi\nje rare_back\nwide_back: ret");
PIECE(rare, "mov %rsp, %rdi\njmp wide_back\nrare_back: mov %rsp, %rsi\njmp wide_back");
/* Functions that call each other last. */
PIECE(even, "dec %edi\njne odd_start\neven_back: ret");
PIECE(odd, "dec %edi\njne even_start\nodd_back: jmp odd_start");

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

static struct insn_entries find(void **state, const uint8_t *start, const uint8_t *end)
{
	const struct bench *bench = *state;
	struct insn_entries entries;

	assert_int_equal(entries_find(bench->space, (uintptr_t)start, (uintptr_t)end, &entries), 0);
	return entries;
}

#define FIND(name) find(state, name##_start, name##_end)

static void a_part_leads_back(void **state)
{
	struct insn_entries entries = FIND(hot);

	assert_int_equal(entries.count, 1);
	assert_int_equal(entries.at[0], hot_back - hot_start);
	entries = FIND(wide);
	assert_int_equal(entries.count, 1);
	assert_int_equal(entries.at[0], wide_back - wide_start);
}

static void a_part_is_no_function(void **state)
{
	struct insn_entries entries = FIND(cold);

	assert_int_equal(entries.count, 1);
	assert_int_equal(entries.at[0], 0);
	entries = FIND(rare);
	assert_int_equal(entries.count, 2);
	assert_true(!entries.at[0] || !entries.at[1]);
}

static void functions_are_entered_at_their_start(void **state)
{
	assert_int_equal(FIND(even).count, 0);
	assert_int_equal(FIND(odd).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_leads_back),
		cmocka_unit_test(a_part_is_no_function),
		cmocka_unit_test(functions_are_entered_at_their_start),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
