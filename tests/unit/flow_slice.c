/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of functions that were assembled by hand: which loads, constants and so on a store's value
 * comes from. */
#include "flow/slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START 0x1000

static struct flow_slice_work work;
static struct flow_slice slice;

static int slice_store(const uint8_t *code, size_t length, unsigned offset, unsigned first,
		       unsigned wanted)
{
	const struct flow_stored stored = {0, first, wanted};

	return flow_slice_store(code, length, START, START + offset, &stored, &work, &slice);
}

/* mov (%rdi),%rax; add $1,%rax; mov %rax,(%rsi); ret */
static void a_load_and_its_address(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x83, 0xc0,
				       0x01, 0x48, 0x89, 0x06, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 7, 0, 8), 0);
	assert_int_equal(slice.ends, 1);
	assert_int_equal(slice.end[0].kind, FLOW_END_LOAD);
	assert_int_equal(slice.end[0].pc, START);
	assert_true(slice.end[0].address_kept);
	assert_false(slice.copies);
}

/* mov (%rax),%rax; mov %rax,(%rsi); ret */
static void an_address_that_is_overwritten(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x00, 0x48, 0x89, 0x06, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 3, 0, 8), 0);
	assert_int_equal(slice.end[0].kind, FLOW_END_LOAD);
	assert_false(slice.end[0].address_kept);
	assert_true(slice.copies);
}

/* test %edi,%edi; je 1f; mov $1,%eax; jmp 2f; 1: mov (%rdx),%eax; 2: mov %eax,(%rsi); ret */
static void every_way_counts(void **state)
{
	static const uint8_t code[] = {0x85, 0xff, 0x74, 0x07, 0xb8, 0x01, 0x00, 0x00,
				       0x00, 0xeb, 0x02, 0x8b, 0x02, 0x89, 0x06, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 13, 0, 4), 0);
	assert_int_equal(slice.ends, 2);
	assert_true(slice.end[0].kind != slice.end[1].kind);
	for (unsigned i = 0; i < 2; i++)
		assert_true(slice.end[i].kind == FLOW_END_LOAD ||
			    (slice.end[i].kind == FLOW_END_CONSTANT && slice.end[i].constant == 1));
}

/* push %rbx; call +0; mov %rax,(%rbx); ret */
static void what_a_call_returns(void **state)
{
	static const uint8_t code[] = {0x53, 0xe8, 0, 0, 0, 0, 0x48, 0x89, 0x03, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 6, 0, 8), 0);
	assert_int_equal(slice.ends, 1);
	assert_int_equal(slice.end[0].kind, FLOW_END_RETURN);
	assert_int_equal(slice.end[0].target, START + 6);
}

/* mov %rdx,(%rsi); ret */
static void an_argument(void **state)
{
	static const uint8_t code[] = {0x48, 0x89, 0x16, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 0, 0, 8), 0);
	assert_int_equal(slice.end[0].kind, FLOW_END_ARGUMENT);
	assert_int_equal(slice.end[0].place.number, 2);
}

/* call +0; mov %rcx,(%rsi); ret: nobody knows what the call has left in rcx. */
static void a_register_that_a_call_destroys(void **state)
{
	static const uint8_t code[] = {0xe8, 0, 0, 0, 0, 0x48, 0x89, 0x0e, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 5, 0, 8), 0);
	assert_int_equal(slice.end[0].kind, FLOW_END_UNKNOWN);
}

/* movq (%rdi),%xmm0; movhps (%rdx),%xmm0; movups %xmm0,(%rsi); ret */
static void bytes_of_a_vector_have_their_own_sources(void **state)
{
	static const uint8_t code[] = {0xf3, 0x0f, 0x7e, 0x07, 0x0f, 0x16,
				       0x02, 0x0f, 0x11, 0x06, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 7, 0, 8), 0);
	assert_int_equal(slice.ends, 1);
	assert_int_equal(slice.end[0].pc, START);
	assert_int_equal(slice_store(code, sizeof(code), 7, 8, 8), 0);
	assert_int_equal(slice.ends, 1);
	assert_int_equal(slice.end[0].pc, START + 4);
}

/* add %rax,(%rsi); ret: also what was there. */
static void an_update_has_itself_as_source(void **state)
{
	static const uint8_t code[] = {0x31, 0xc0, 0x48, 0x01, 0x06, 0xc3};
	bool itself = false;

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 2, 0, 8), 0);
	for (unsigned i = 0; i < slice.ends; i++)
		itself |= slice.end[i].kind == FLOW_END_LOAD && slice.end[i].pc == START + 2;
	assert_true(itself);
}

static void code_may_be_anything(void **state)
{
	uint8_t code[512];
	uint32_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < sizeof(code); i++) {
			random = random * 1664525u + 1013904223u;
			code[i] = (uint8_t)(random >> 24);
		}
		slice_store(code, sizeof(code), round % 64, 0, 8);
		flow_slice_return(code, sizeof(code), START, &work, &slice);
	}
	assert_int_not_equal(slice_store(code, FLOW_SLICE_CODE + 1, 0, 0, 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_and_its_address),
		cmocka_unit_test(an_address_that_is_overwritten),
		cmocka_unit_test(every_way_counts),
		cmocka_unit_test(what_a_call_returns),
		cmocka_unit_test(an_argument),
		cmocka_unit_test(a_register_that_a_call_destroys),
		cmocka_unit_test(bytes_of_a_vector_have_their_own_sources),
		cmocka_unit_test(an_update_has_itself_as_source),
		cmocka_unit_test(code_may_be_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
