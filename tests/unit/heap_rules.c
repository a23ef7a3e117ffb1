/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of an access around or in a guarded block, and what is hidden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "heap/rules.h"

#define BLOCK 0x1000u
#define LENGTH 15u

static struct heap_verdict judge(uint64_t address, uint64_t length, unsigned access,
				 unsigned traits)
{
	struct tl_guarded block = {.size = sizeof(block),
				   .address = BLOCK,
				   .length = LENGTH,
				   .front = BLOCK - 16,
				   .back = BLOCK + 32};
	struct heap_access seen = {.address = address,
				   .length = length,
				   .access = access,
				   .traits = traits,
				   .time = 1};

	return heap_judge(&block, &seen);
}

static void what_lies_beside_the_block_is_nobodys(void **state)
{
	struct heap_verdict verdict = judge(BLOCK + LENGTH, 1, TL_WRITE, 0);

	(void)state;
	assert_int_equal(verdict.kind, HEAP_AFTER);
	assert_int_equal(verdict.certainty, TL_DEFINITE);
	verdict = judge(BLOCK - 1, 1, TL_READ, 0);
	assert_int_equal(verdict.kind, HEAP_BEFORE);
	assert_int_equal(verdict.certainty, TL_DEFINITE);
}

static void what_nothing_explains_is_hidden(void **state)
{
	struct heap_verdict verdict =
		judge(BLOCK + LENGTH, 1, TL_READ | TL_WRITE | TL_GUESSED, TL_TRAIT_UNEXPLAINED);

	(void)state;
	assert_int_equal(verdict.kind, HEAP_NO_ERROR);
	assert_string_equal(verdict.rule, "heap-masked");
	verdict = judge(BLOCK + LENGTH, 1, TL_READ | TL_WRITE | TL_KERNEL, 0);
	assert_int_equal(verdict.kind, HEAP_NO_ERROR);
	assert_string_equal(verdict.rule, "heap-masked");
}

static void a_sample_of_a_load_across_the_end_tells_nothing(void **state)
{
	struct tl_guarded block = {.size = sizeof(block),
				   .address = BLOCK,
				   .length = LENGTH,
				   .front = BLOCK - 16,
				   .back = BLOCK + 32};
	struct heap_access seen = {.address = BLOCK, .length = 32, .access = TL_READ, .time = 1};

	(void)state;
	assert_int_equal(heap_judge(&block, &seen).certainty, TL_POSSIBLE);
	seen.is_sample = true;
	assert_string_equal(heap_judge(&block, &seen).rule, "heap-not-bounded");
}

static void a_load_across_the_end_that_was_asked_for_is_certain(void **state)
{
	(void)state;
	assert_int_equal(judge(BLOCK, 16, TL_READ, TL_TRAIT_VECTOR).certainty, TL_POSSIBLE);
	assert_int_equal(judge(BLOCK, 16, TL_READ, TL_TRAIT_VECTOR | TL_TRAIT_BOUNDED).certainty,
			 TL_DEFINITE);
}

/* Of the watches that one load trips another one was told. */
static void what_a_load_was_asked_about_beside_the_watch_is_judged(void **state)
{
	const unsigned beside = TL_TRAIT_VECTOR | TL_TRAIT_BEYOND;

	(void)state;
	assert_string_equal(judge(BLOCK, LENGTH + 1, TL_READ, beside).rule, "heap-loads-beyond");
	assert_int_equal(judge(BLOCK, LENGTH + 1, TL_READ, beside | TL_TRAIT_BOUNDED).kind,
			 HEAP_AFTER);
	assert_int_equal(judge(BLOCK, LENGTH, TL_READ, beside | TL_TRAIT_BOUNDED).kind,
			 HEAP_NO_ERROR);
	/* Of blocks beside it. */
	assert_int_equal(judge(BLOCK - 32, 16, TL_READ, beside | TL_TRAIT_BOUNDED).kind,
			 HEAP_NO_ERROR);
	assert_int_equal(judge(BLOCK + 32, 16, TL_READ, beside | TL_TRAIT_BOUNDED).kind,
			 HEAP_NO_ERROR);
}

static void what_was_guessed_is_not_certain(void **state)
{
	(void)state;
	assert_int_equal(judge(BLOCK + LENGTH, 1, TL_WRITE | TL_GUESSED, 0).certainty, TL_LIKELY);
	assert_int_equal(judge(BLOCK, 16, TL_READ | TL_GUESSED, TL_TRAIT_VECTOR).certainty,
			 TL_POSSIBLE);
	/* Nothing is known of the instruction: it may be a string function's. */
	assert_int_equal(judge(BLOCK + LENGTH, 1, TL_GUESSED, 0).certainty, TL_POSSIBLE);
	assert_int_equal(judge(BLOCK + LENGTH, 1, TL_GUESSED | TL_LATE, 0).certainty, TL_POSSIBLE);
	/* The kernel has told the byte, on a page where nobody loads what he was not asked about.
	 */
	assert_int_equal(judge(BLOCK + LENGTH, 1, 0, 0).certainty, TL_DEFINITE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_beside_the_block_is_nobodys),
		cmocka_unit_test(what_nothing_explains_is_hidden),
		cmocka_unit_test(a_sample_of_a_load_across_the_end_tells_nothing),
		cmocka_unit_test(a_load_across_the_end_that_was_asked_for_is_certain),
		cmocka_unit_test(what_a_load_was_asked_about_beside_the_watch_is_judged),
		cmocka_unit_test(what_was_guessed_is_not_certain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
