/* SPDX-License-Identifier: Apache-2.0 */
/* Which bits of a watched word are nobody's still, behind stores that were foretold and others. */
#include "uninit/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define THREAD 7
#define OTHER 8

static struct word begin(void)
{
	const struct shadow_found found = {.store = {{0x10, 0xf8}, {0x20, 0xc0}}, .stores = 2};
	struct word word = {.fresh = words_bits(0x03)};

	words_foretell(&word, THREAD, &found);
	return word;
}

static void test_bits(void **state)
{
	(void)state;
	assert_int_equal(words_bits(0x81), 0xff000000000000ff);
	assert_int_equal(words_bytes(0x0100000000000080), 0x81);
	assert_int_equal(words_bytes(0), 0);
}

static void test_foretold(void **state)
{
	struct word word = begin();

	(void)state;
	assert_true(words_store(&word, THREAD, 0x10, 0x01));
	assert_int_equal(word.fresh, 0xfff8);
	assert_true(words_store(&word, THREAD, 0x20, 0x01));
	assert_int_equal(word.fresh, 0xffc0);
	/* It was foretold no further. */
	assert_false(words_store(&word, THREAD, 0x20, 0x01));
	assert_int_equal(word.fresh, 0xff00);
}

static void test_another_way(void **state)
{
	struct word word = begin();

	(void)state;
	assert_false(words_store(&word, THREAD, 0x20, 0x01));
	assert_int_equal(word.fresh, 0xff00);
	assert_false(words_store(&word, THREAD, 0x10, 0x02));
	assert_int_equal(word.fresh, 0);
}

static void test_another_thread(void **state)
{
	struct word word = begin();

	(void)state;
	assert_false(words_store(&word, OTHER, 0x10, 0x01));
	assert_int_equal(word.fresh, 0xff00);
	assert_false(words_store(&word, THREAD, 0x10, 0x02));
	assert_int_equal(word.fresh, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_foretold),
		cmocka_unit_test(test_another_way),
		cmocka_unit_test(test_another_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
