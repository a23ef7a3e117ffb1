/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a process our memory is in no one's way. */
#include "inject/gap.h"

#include "inject/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define IMAGE 0x14000u
#define TABLE_SPAN (1ull << 21)

struct pieces {
	uint64_t start, end; /* of what is asked for */
	uint64_t stack;	     /* end of the stack */
	bool taken;
};

static int look_at(void *context, const struct mapping *mapping)
{
	struct pieces *pieces = context;

	if (strcmp(mapping->name, "[stack]") == 0)
		pieces->stack = mapping->end;
	/* with a page on both sides */
	pieces->taken |= mapping->start < pieces->end + 4096 && mapping->end > pieces->start - 4096;
	return 0;
}

static struct pieces look(uint64_t start, uint64_t size)
{
	struct pieces pieces = {.start = start, .end = start + size};

	assert_int_equal(mappings_read(getpid(), look_at, &pieces), 0);
	return pieces;
}

static void both_are_free(void **state)
{
	const struct gap gap = gap_find(getpid(), IMAGE);

	(void)state;
	assert_int_not_equal(gap.image, 0);
	assert_int_not_equal(gap.area, 0);
	assert_int_equal(gap.image % 4096, 0);
	assert_int_equal(gap.area % 4096, 0);
	assert_false(look(gap.image, IMAGE).taken);
	assert_false(look(gap.area, 1 << 22).taken);
}

/* With what lies above the stack, if that has room in this run: its end is a random one. */
static void image_shares_the_page_table_of_the_stack(void **state)
{
	const struct gap gap = gap_find(getpid(), IMAGE);
	const struct pieces image = look(gap.image, IMAGE);

	(void)state;
	if (gap.area == gap.image + IMAGE)
		skip();
	assert_true(gap.image > image.stack);
	assert_int_equal(gap.image / TABLE_SPAN, (image.stack - 1) / TABLE_SPAN);
	assert_int_equal((gap.image + IMAGE - 1) / TABLE_SPAN, (image.stack - 1) / TABLE_SPAN);
}

/* What is larger than a page table spans lies before the area. */
static void large_image_lies_in_the_largest_piece(void **state)
{
	const struct gap gap = gap_find(getpid(), TABLE_SPAN);

	(void)state;
	assert_int_not_equal(gap.image, 0);
	assert_int_equal(gap.area, gap.image + TABLE_SPAN);
	assert_false(look(gap.image, 2 * TABLE_SPAN).taken);
}

static void nothing_is_known_of_what_has_ended(void **state)
{
	const struct gap gap = gap_find(0x7ffffffe, IMAGE);

	(void)state;
	assert_int_equal(gap.image, 0);
	assert_int_equal(gap.area, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_are_free),
		cmocka_unit_test(image_shares_the_page_table_of_the_stack),
		cmocka_unit_test(large_image_lies_in_the_largest_piece),
		cmocka_unit_test(nothing_is_known_of_what_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
