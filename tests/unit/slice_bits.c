/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a few bits that lie in one byte are told apart. */
#include "slice/slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "code.h"

#define START 0x1000
#define SECOND 0x1005 /* the load of the second field */
#define JOIN 0x0a     /* offsets */
#define STORE 0x0c
#define FIRST_BITS 0x7u
#define SECOND_BITS 0xfffff8u

/* mov (%rdi),%eax; and $7,%eax; mov (%rsi),%ecx; shl $3,%ecx; add %ecx,%eax; mov %eax,(%rdx); ret
 */
static const uint8_t joined[] = {0x8b, 0x07, 0x83, 0xe0, 0x07, 0x8b, 0x0e, 0xc1,
				 0xe1, 0x03, 0x01, 0xc8, 0x89, 0x02, 0xc3};

static struct flow_slice_work work;
static struct flow_slice slice;

static void slice_bits(const uint8_t *code, size_t length, uint64_t bits)
{
	const struct flow_stored stored = {.first = 0, .length = 4, .bits = bits};

	assert_int_equal(
		flow_slice_store(code, length, START, START + STORE, &stored, &work, &slice), 0);
}

static void slice_bytes(const uint8_t *code, const uint8_t *end, const uint8_t *store,
			unsigned first, unsigned length)
{
	const struct flow_stored stored = {.first = first, .length = length};
	uint64_t pc = START + (uint64_t)(store - code);

	assert_int_equal(
		flow_slice_store(code, (size_t)(end - code), START, pc, &stored, &work, &slice), 0);
}

static void assert_only(uint64_t pc)
{
	assert_int_equal(slice.ends, 1);
	assert_int_equal(slice.end[0].kind, FLOW_END_LOAD);
	assert_int_equal(slice.end[0].pc, pc);
}

static void a_field_has_its_own_source(void **state)
{
	uint8_t code[sizeof(joined)];

	(void)state;
	slice_bits(joined, sizeof(joined), FIRST_BITS);
	assert_only(START);
	slice_bits(joined, sizeof(joined), SECOND_BITS);
	assert_only(SECOND);
	slice_bits(joined, sizeof(joined), 0);
	assert_int_equal(slice.ends, 2);
	/* or %ecx,%eax */
	memcpy(code, joined, sizeof(code));
	code[JOIN] = 0x09;
	slice_bits(code, sizeof(code), FIRST_BITS);
	assert_only(START);
	slice_bits(code, sizeof(code), SECOND_BITS);
	assert_only(SECOND);
}

static void a_sum_that_carries_is_of_both(void **state)
{
	uint8_t code[sizeof(joined)];

	(void)state;
	memcpy(code, joined, sizeof(code));
	code[4] = 0x0f; /* of what both have the lowest bit of the second field may be made */
	slice_bits(code, sizeof(code), SECOND_BITS);
	assert_int_equal(slice.ends, 2);
}

/* mov (%rdi),%eax; shr $3,%eax; and $0x1fffff,%eax; mov %rax,(%rsi); ret */
static void a_field_is_of_these_bits(void **state)
{
	static const uint8_t code[] = {0x8b, 0x07, 0xc1, 0xe8, 0x03, 0x25, 0xff,
				       0xff, 0x1f, 0x00, 0x48, 0x89, 0x06, 0xc3};
	const struct flow_stored stored = {.first = 0, .length = 8};

	(void)state;
	assert_int_equal(
		flow_slice_store(code, sizeof(code), START, START + 10, &stored, &work, &slice), 0);
	assert_only(START);
	assert_int_equal(slice.end[0].first, 0);
	assert_int_equal(slice.end[0].length, 3);
	assert_true(slice.end[0].bits == SECOND_BITS);
}

CODE(four_times, "mov (%rdi), %rax\n"
		 "lea 0(,%rax,4), %rdx\n"
		 "four_times_store: mov %rdx, (%rsi)\n"
		 "ret");
extern const uint8_t four_times_store[];

/* Bits of the byte below have come into it. */
static void a_byte_of_a_multiple_is_of_those_below_too(void **state)
{
	(void)state;
	slice_bytes(four_times_start, four_times_end, four_times_store, 1, 1);
	assert_only(START);
	assert_int_equal(slice.end[0].first, 0);
	assert_int_equal(slice.end[0].length, 2);
}

CODE(in_two_widths, "mov (%rdi), %rax\n"
		    "movzbl %al, %ecx\n"
		    "and $0x0f, %ecx\n"
		    "xor %rax, %rcx\n"
		    "in_two_widths_store: mov %rcx, (%rsi)\n"
		    "ret");
extern const uint8_t in_two_widths_store[];

/* Some bits of its lowest byte, and all of it. */
static void a_load_counts_as_far_as_any_part_of_it(void **state)
{
	(void)state;
	slice_bytes(in_two_widths_start, in_two_widths_end, in_two_widths_store, 0, 8);
	assert_only(START);
	assert_int_equal(slice.end[0].first, 0);
	assert_int_equal(slice.end[0].length, 8);
	assert_true(slice.end[0].bits == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_has_its_own_source),
		cmocka_unit_test(a_sum_that_carries_is_of_both),
		cmocka_unit_test(a_field_is_of_these_bits),
		cmocka_unit_test(a_byte_of_a_multiple_is_of_those_below_too),
		cmocka_unit_test(a_load_counts_as_far_as_any_part_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
