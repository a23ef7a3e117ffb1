/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's registers from a row whose places of the stack may be gone already. */
#include "dwarf/row.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define STACK 0x1000
#define R12 12
#define OLD 0x1234

/* A copy of the stack, from `*context` on: each word tells its own address. */
static int read_stack(void *context, uint64_t address, void *to, size_t length)
{
	if (length != sizeof(address) || address < *(const uint64_t *)context)
		return -EFAULT;
	memcpy(to, &address, sizeof(address));
	return 0;
}

/* The row of an instruction at which only the return address is left on the stack. */
static struct symbol_row row_at_return(void)
{
	struct symbol_row row = {.cfa_register = SYMBOL_SP, .cfa_offset = 8};

	row.saved = 1u << SYMBOL_PC | 1u << SYMBOL_FP;
	row.offset[SYMBOL_PC] = -8;
	row.offset[SYMBOL_FP] = -16;
	return row;
}

/* `*value` is the caller's frame pointer. False: it is not known. */
static bool apply(const struct symbol_row *row, uint64_t lowest, uint64_t *value)
{
	const struct symbol_memory memory = {read_stack, &lowest};
	struct symbol_registers registers = {.known = UINT32_MAX}, caller;
	uint64_t cfa;

	registers.value[SYMBOL_SP] = STACK;
	registers.value[SYMBOL_FP] = OLD;
	assert_int_equal(symbol_row_apply(row, &registers, &memory, 0, &caller, &cfa), 0);
	assert_int_equal(cfa, STACK + row->cfa_offset);
	assert_int_equal(caller.value[SYMBOL_PC], cfa - 8);
	*value = caller.value[SYMBOL_FP];
	return symbol_register_known(&caller, SYMBOL_FP);
}

static void a_popped_frame_pointer_has_its_old_value(void **state)
{
	struct symbol_row row = row_at_return();
	uint64_t value;

	(void)state;
	assert_true(apply(&row, STACK, &value));
	assert_int_equal(value, OLD);
}

static void another_register_may_be_popped_after_it(void **state)
{
	struct symbol_row row = row_at_return();
	uint64_t value;

	(void)state;
	row.saved |= 1u << R12;
	row.offset[R12] = -16;
	row.offset[SYMBOL_FP] = -24;
	assert_true(apply(&row, STACK, &value));
	assert_int_equal(value, OLD);
}

static void what_lies_below_the_stack_for_another_reason_is_not_known(void **state)
{
	struct symbol_row row = row_at_return();
	uint64_t value;

	(void)state;
	row.offset[SYMBOL_FP] = -24;
	assert_false(apply(&row, STACK, &value));
	row.offset[SYMBOL_FP] = -20;
	assert_false(apply(&row, STACK, &value));
}

static void what_is_saved_on_the_stack_is_read_there(void **state)
{
	struct symbol_row row = row_at_return();
	uint64_t value;

	(void)state;
	row.cfa_offset = 32;
	assert_true(apply(&row, STACK, &value));
	assert_int_equal(value, STACK + 16);
	assert_false(apply(&row, STACK + 24, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_popped_frame_pointer_has_its_old_value),
		cmocka_unit_test(another_register_may_be_popped_after_it),
		cmocka_unit_test(what_lies_below_the_stack_for_another_reason_is_not_known),
		cmocka_unit_test(what_is_saved_on_the_stack_is_read_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
