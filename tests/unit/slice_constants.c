/* SPDX-License-Identifier: Apache-2.0 */
/* Slices through masks that registers hold. */
#include "slice/slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "code.h"

#define START 0x1000

/* Two numbers in one word, each of whose bytes a mask leaves, the one in a register. */
CODE(masked, "mov (%rdi), %rax\n"
	     "and $0xffff0000, %eax\n"
	     "mov (%rsi), %rcx\n"
	     "movabs $0xffff00000000, %rdx\n"
	     "and %rcx, %rdx\n"
	     "or %rdx, %rax\n"
	     "masked_store: mov %rax, (%r8)\n"
	     "ret");

/* A mask of 32 bits has zeroes above. */
CODE(narrow, "mov (%rsi), %rcx\n"
	     "mov $0xffff0000, %edx\n"
	     "and %rcx, %rdx\n"
	     "narrow_store: mov %rdx, (%r8)\n"
	     "ret");

/* Which of two masks the register holds depends on where control came from. */
CODE(jumped, "mov $2, %edx\n"
	     "jmp 1f\n"
	     "mov $1, %edx\n"
	     "1: and (%rsi), %rdx\n"
	     "jumped_store: mov %rdx, (%r8)\n"
	     "ret");

extern const uint8_t masked_store[], narrow_store[], jumped_store[];

static struct flow_slice_work work;
static struct flow_slice slice;

#define SLICE(name, first, length) \
	slice_store(name##_start, (size_t)(name##_end - name##_start), name##_store, first, length)

static void slice_store(const uint8_t *code, size_t length, const uint8_t *store, unsigned first,
			unsigned wanted)
{
	const struct flow_stored stored = {0, first, wanted};

	assert_int_equal(flow_slice_store(code, length, START, START + (uint64_t)(store - code),
					  &stored, &work, &slice),
			 0);
}

/* How many loads the value comes from, besides constants, and where one is in the code. */
static unsigned loads(unsigned *offset)
{
	unsigned count = 0;

	for (unsigned i = 0; i < slice.ends; i++)
		if (slice.end[i].kind != FLOW_END_CONSTANT) {
			assert_int_equal(slice.end[i].kind, FLOW_END_LOAD);
			*offset = (unsigned)(slice.end[i].pc - START);
			count++;
		}
	return count;
}

static unsigned only_load(void)
{
	unsigned offset = 0;

	assert_int_equal(loads(&offset), 1);
	return offset;
}

static void a_mask_in_a_register_leaves_what_it_leaves(void **state)
{
	(void)state;
	SLICE(masked, 2, 2);
	assert_int_equal(only_load(), 0);
	SLICE(masked, 4, 2);
	assert_true(only_load() > 0);
}

static void above_a_mask_of_32_bits_nothing_is_left(void **state)
{
	unsigned offset;

	(void)state;
	SLICE(narrow, 2, 2);
	assert_int_equal(only_load(), 0);
	SLICE(narrow, 0, 2);
	assert_int_equal(loads(&offset), 0);
	SLICE(narrow, 4, 4);
	assert_int_equal(loads(&offset), 0);
}

static void of_two_masks_neither_is_known(void **state)
{
	bool loaded = false;

	(void)state;
	SLICE(jumped, 4, 2);
	for (unsigned i = 0; i < slice.ends; i++)
		loaded |= slice.end[i].kind == FLOW_END_LOAD;
	assert_true(loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mask_in_a_register_leaves_what_it_leaves),
		cmocka_unit_test(above_a_mask_of_32_bits_nothing_is_left),
		cmocka_unit_test(of_two_masks_neither_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
