/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions that a file was made to harm us by. */
#include "dwarf/evaluate.h"

#include <dwarf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int evaluate(const Dwarf_Op *op, struct symbol_location *location)
{
	struct symbol_registers registers = {.known = UINT32_MAX};
	struct symbol_evaluation evaluation = {.registers = &registers};

	return symbol_evaluate(&evaluation, op, 1, location);
}

/* A register's number has 64 bits there: whoever looks at fewer takes another for it. */
static void test_register_numbers(void **state)
{
	static const uint64_t others[] = {SYMBOL_REGISTER_COUNT, UINT32_MAX, (1ull << 32) + 3,
					  UINT64_MAX};
	struct symbol_location location;
	Dwarf_Op op = {.atom = DW_OP_regx, .number = 3};

	(void)state;
	assert_int_equal(evaluate(&op, &location), 0);
	assert_int_equal(location.kind, SYMBOL_LOCATION_REGISTER);
	assert_int_equal(location.value, 3);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		op.number = others[i];
		assert_int_equal(evaluate(&op, &location), -ENODATA);
	}
	op = (Dwarf_Op){.atom = DW_OP_reg31};
	assert_int_equal(evaluate(&op, &location), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_register_numbers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
