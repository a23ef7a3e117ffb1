/* SPDX-License-Identifier: Apache-2.0 */
/* Every mixture of two neighbouring steps is a breakpoint that the kernel takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/relocation.h"

#include <trapline/event.h>

#define CODE_LENGTH 8

static bool is_valid(uintptr_t addr, unsigned length, unsigned access)
{
	return access & TL_EXEC ? length == CODE_LENGTH : addr % length == 0;
}

/* As the kernel has it: the length of code is always the same. */
static unsigned kernel_length(const struct relocation_place *place)
{
	return place->access & TL_EXEC ? CODE_LENGTH : place->length;
}

static void assert_mixtures(const struct relocation_place *a, const struct relocation_place *b)
{
	for (unsigned from = 0; from < 8; from++) {
		uintptr_t addr = from & 1 ? a->addr : b->addr;
		unsigned length = kernel_length(from & 2 ? a : b);

		assert_true(is_valid(addr, length, from & 4 ? a->access : b->access));
	}
}

static unsigned assert_way(const struct relocation_place *from, const struct relocation_place *to)
{
	struct relocation_place step[RELOCATION_STEPS];
	unsigned count = relocation_steps(from, to, CODE_LENGTH, step);
	const struct relocation_place *before = from;

	assert_true(count <= RELOCATION_STEPS);
	for (unsigned i = 0; i < count; i++) {
		assert_mixtures(before, &step[i]);
		before = &step[i];
	}
	assert_mixtures(before, to);
	return count;
}

static void every_way_is_valid(void **state)
{
	static const unsigned accesses[] = {TL_WRITE, TL_READ | TL_WRITE, TL_EXEC};
	struct relocation_place place[256];
	unsigned count = 0;

	(void)state;
	for (unsigned access = 0; access < 3; access++)
		for (unsigned length = 1; length <= 8; length *= 2)
			for (uintptr_t addr = 4096; addr < 4096 + 24; addr += length)
				place[count++] =
					(struct relocation_place){addr, length, accesses[access]};
	for (unsigned from = 0; from < count; from++)
		for (unsigned to = 0; to < count; to++)
			assert_way(&place[from], &place[to]);
}

static void what_needs_no_step_takes_none(void **state)
{
	static const struct relocation_place whole = {4096, 8, TL_WRITE},
					     other = {8192, 8, TL_READ}, half = {4096, 4, TL_WRITE},
					     upper = {4100, 4, TL_WRITE};

	(void)state;
	assert_int_equal(assert_way(&whole, &other), 0);
	assert_int_equal(assert_way(&whole, &half), 0);
	assert_int_equal(assert_way(&half, &upper), 0);
	assert_int_equal(assert_way(&whole, &upper), 1);
	assert_int_equal(assert_way(&upper, &whole), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_is_valid),
		cmocka_unit_test(what_needs_no_step_takes_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
