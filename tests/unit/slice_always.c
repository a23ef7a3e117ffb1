/* SPDX-License-Identifier: Apache-2.0 */
/* Is whatever a load brings the slice's value, or may control go on with something else? */
#include "slice/slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "code.h"

#define START 0x1000
/* What was found, or 0. */
CODE(found, "test %rdi, %rdi\n"
	    "je 1f\n"
	    "mov 8(%rdi), %rax\n"
	    "ret\n"
	    "1: xor %eax, %eax\n"
	    "ret");
/* What was loaded, or 0 where that is too small. */
CODE(bounded, "mov 8(%rdi), %rax\n"
	      "cmp $5, %rax\n"
	      "ja 1f\n"
	      "xor %eax, %eax\n"
	      "1: ret");
/* The last of many. */
CODE(last_of, "1: mov (%rdi), %rax\n"
	      "add $8, %rdi\n"
	      "cmp %rsi, %rdi\n"
	      "jne 1b\n"
	      "test %rdx, %rdx\n"
	      "jne 2f\n"
	      "mov $1, %eax\n"
	      "2: ret");

static struct flow_slice_work work;
static struct flow_slice slice;

/* Of the only load, at a return. */
static bool is_always(const uint8_t *code, const uint8_t *end)
{
	const struct insn_place rax = {.kind = INSN_PLACE_GENERAL, .length = 8};
	unsigned loads = 0;
	bool always = false;

	assert_int_equal(flow_slice_return(code, (size_t)(end - code), START, rax, &work, &slice),
			 0);
	for (unsigned i = 0; i < slice.ends; i++)
		if (slice.end[i].kind == FLOW_END_LOAD) {
			always = slice.end[i].always;
			loads++;
		}
	assert_int_equal(loads, 1);
	return always;
}

static void beside_a_constant(void **state)
{
	(void)state;
	assert_true(is_always(found_start, found_end));
}

static void not_where_a_constant_may_take_its_place(void **state)
{
	(void)state;
	assert_false(is_always(bounded_start, bounded_end));
	assert_false(is_always(last_of_start, last_of_end));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beside_a_constant),
		cmocka_unit_test(not_where_a_constant_may_take_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
