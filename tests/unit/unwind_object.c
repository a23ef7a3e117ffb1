/* SPDX-License-Identifier: Apache-2.0 */
/* Objects whose places in memory fall together are remembered beside each other, since the stacks
 * of a program lead through the same few again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../src/unwind/object.c"

#define TOGETHER 4

static uint64_t next_in_set(uint64_t start, const struct cached_segment *set)
{
	do
		start += 0x1000;
	while (cache_set(start) != set);
	return start;
}

static void several_of_a_set_are_kept(void **state)
{
	const struct cached_segment *set = cache_set(0x7f0000000000);
	uint64_t start[TOGETHER], at = 0x7f0000000000;
	struct segment segment;

	(void)state;
	for (unsigned i = 0; i < TOGETHER; i++) {
		start[i] = at = next_in_set(at, set);
		segment = (struct segment){at, at + i};
		cache_put(at, at + 0x1000, at + 8, &segment);
	}
	for (unsigned i = 0; i < TOGETHER; i++) {
		assert_true(cache_get(start[i], start[i] + 0x1000, start[i] + 8, &segment));
		assert_int_equal(segment.end, start[i] + i);
		assert_false(cache_get(start[i], start[i] + 0x2000, start[i] + 8, &segment));
	}
}

static void one_more_takes_the_place_of_one(void **state)
{
	const struct cached_segment *set = cache_set(0x7e0000000000);
	uint64_t at = 0x7e0000000000, start[TOGETHER + 1];
	struct segment segment;
	unsigned kept = 0;

	(void)state;
	for (unsigned i = 0; i <= TOGETHER; i++) {
		start[i] = at = next_in_set(at, set);
		segment = (struct segment){at, at + i};
		cache_put(at, at + 0x1000, at + 8, &segment);
	}
	for (unsigned i = 0; i <= TOGETHER; i++)
		kept += cache_get(start[i], start[i] + 0x1000, start[i] + 8, &segment);
	assert_int_equal(kept, TOGETHER);
	assert_true(cache_get(at, at + 0x1000, at + 8, &segment));
}

static void own_code_is_found(void **state)
{
	struct object object;

	(void)state;
	assert_int_equal(object_find((uintptr_t)own_code_is_found, &object), 0);
	assert_true(object.section.length > 0);
	assert_int_equal(object_find((uintptr_t)&object, &object), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_of_a_set_are_kept),
		cmocka_unit_test(one_more_takes_the_place_of_one),
		cmocka_unit_test(own_code_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
