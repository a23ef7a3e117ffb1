/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of functions that were assembled by hand: which loads, constants and so on a store's value
 * comes from. */
#include "slice/forward.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code.h"

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

/* Two values side by side in one vector. */
CODE(two_in_one, "movsd (%rdi), %xmm0\n"
		 "movsd (%rdx), %xmm1\n"
		 "unpcklpd %xmm1, %xmm0\n"
		 "two_in_one_store: movups %xmm0, (%rsi)\n"
		 "ret");
/* The same, from registers: cvtsi2sd leaves the upper half as it is. */
CODE(two_converted, "mov (%rdi), %rax\n"
		    "mov (%rdx), %rcx\n"
		    "cvtsi2sd %rax, %xmm0\n"
		    "cvtsi2sd %rcx, %xmm1\n"
		    "addsd %xmm1, %xmm1\n"
		    "unpcklpd %xmm1, %xmm0\n"
		    "two_converted_store: movups %xmm0, (%rsi)\n"
		    "ret");
/* Of eight values that are loaded the second is stored, when all have been loaded. */
CODE(keeps_one, "xor %eax, %eax\n"
		"1: mov (%rdi), %rdx\n"
		"add $8, %rdi\n"
		"cmp $1, %eax\n"
		"jne 2f\n"
		"mov %rdx, %r9\n"
		"2: inc %eax\n"
		"cmp $8, %eax\n"
		"jne 1b\n"
		"keeps_one_store: mov %r9, (%rsi)\n"
		"ret");
/* The same without a jump. */
CODE(selects_one, "xor %eax, %eax\n"
		  "1: mov (%rdi), %rdx\n"
		  "add $8, %rdi\n"
		  "cmp $1, %eax\n"
		  "cmove %rdx, %r9\n"
		  "inc %eax\n"
		  "cmp $8, %eax\n"
		  "jne 1b\n"
		  "selects_one_store: mov %r9, (%rsi)\n"
		  "ret");
/* The sum of eight. */
CODE(sums, "xor %eax, %eax\n"
	   "xor %r9d, %r9d\n"
	   "1: mov (%rdi), %rdx\n"
	   "add $8, %rdi\n"
	   "add %rdx, %r9\n"
	   "inc %eax\n"
	   "cmp $8, %eax\n"
	   "jne 1b\n"
	   "sums_store: mov %r9, (%rsi)\n"
	   "ret");
/* Each value is stored before the next is loaded; or not each. */
CODE(stores_each, "1: mov (%rdi), %rdx\n"
		  "add $8, %rdi\n"
		  "stores_each_store: mov %rdx, (%rsi)\n"
		  "add $8, %rsi\n"
		  "cmp %rdi, %rcx\n"
		  "jne 1b\n"
		  "ret");
CODE(stores_some, "1: mov (%rdi), %rdx\n"
		  "add $8, %rdi\n"
		  "test %rdx, %rdx\n"
		  "je 2f\n"
		  "mov %rdx, (%rsi)\n"
		  "2: cmp %rdi, %rcx\n"
		  "jne 1b\n"
		  "ret");

/* The sum of all; of some; of all, but where the function is left; the greatest; the last. */
#define ALL(name, what)                                        \
	CODE(name, "1: mov (%rdi), %rdx\n"                     \
		   "add $8, %rdi\n" what "2: cmp %rdi, %rcx\n" \
		   "jne 1b\n"                                  \
		   "mov %r9, (%rsi)\n"                         \
		   "3: ret")
ALL(adds_all, "add %rdx, %r9\n");
ALL(adds_some, "test %rdx, %rdx\n"
	       "js 2f\n"
	       "add %rdx, %r9\n");
ALL(adds_and_leaves, "add %rdx, %r9\n"
		     "js 3f\n");
ALL(chooses, "cmp %rdx, %r9\n"
	     "cmovl %rdx, %r9\n");
ALL(keeps_last, "mov %rdx, %r9\n");
/* In vectors, whose halves are added up at the end. */
CODE(adds_vectors, "1: movdqu (%rdi), %xmm1\n"
		   "add $16, %rdi\n"
		   "paddq %xmm1, %xmm0\n"
		   "cmp %rdi, %rcx\n"
		   "jne 1b\n"
		   "movdqa %xmm0, %xmm1\n"
		   "psrldq $8, %xmm1\n"
		   "paddq %xmm1, %xmm0\n"
		   "movq %xmm0, (%rsi)\n"
		   "ret");
CODE(returns_real, "movsd (%rdi), %xmm0\n"
		   "ret");

extern const uint8_t two_in_one_store[], two_converted_store[], keeps_one_store[],
	selects_one_store[], sums_store[], stores_each_store[];

static const struct flow_end *load_before(const uint8_t *start, const uint8_t *end,
					  const uint8_t *store, unsigned first)
{
	const struct flow_end *found = NULL;

	assert_int_equal(
		slice_store(start, (size_t)(end - start), (unsigned)(store - start), first, 8), 0);
	for (unsigned i = 0; i < slice.ends; i++)
		if (slice.end[i].kind == FLOW_END_LOAD) {
			assert_null(found);
			found = &slice.end[i];
		}
	assert_non_null(found);
	return found;
}

static void halves_of_a_vector_keep_apart(void **state)
{
	const uint8_t *store = two_in_one_store;

	(void)state;
	assert_int_equal(load_before(two_in_one_start, two_in_one_end, store, 0)->pc, START);
	assert_int_equal(load_before(two_in_one_start, two_in_one_end, store, 8)->pc, START + 4);
	store = two_converted_store;
	assert_int_equal(load_before(two_converted_start, two_converted_end, store, 0)->pc, START);
	assert_int_equal(load_before(two_converted_start, two_converted_end, store, 8)->pc,
			 START + 3);
	assert_int_equal(slice.ends, 1);
}

static void a_loop_may_keep_an_earlier_value(void **state)
{
	(void)state;
	assert_true(load_before(keeps_one_start, keeps_one_end, keeps_one_store, 0)->earlier_pass);
	assert_true(load_before(selects_one_start, selects_one_end, selects_one_store, 0)
			    ->earlier_pass);
	assert_false(load_before(sums_start, sums_end, sums_store, 0)->earlier_pass);
	assert_false(load_before(stores_each_start, stores_each_end, stores_each_store, 0)
			     ->earlier_pass);
}

/* 1: mov (%rdi),%rax; add $1,%rax; mov %rax,(%rsi); jne 1b; ret */
static void a_store_of_a_load_each_time(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x83, 0xc0, 0x01,
				       0x48, 0x89, 0x06, 0x75, 0xf4, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 7, 0, 8), 0);
	assert_false(slice.again);
}

/* mov (%rdi),%rax; 1: mov %rax,(%rsi); shr %rax; jne 1b; ret */
static void many_stores_of_one_load(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x89, 0x06,
				       0x48, 0xd1, 0xe8, 0x75, 0xf8, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 3, 0, 8), 0);
	assert_true(slice.again);
}

static struct flow_uses uses;

static const struct flow_use *store_after(const uint8_t *start, const uint8_t *end, unsigned first)
{
	const struct flow_use *found = NULL;

	assert_int_equal(flow_uses_of_load(start, (size_t)(end - start), START, START, first, 8,
					   &work, &uses),
			 0);
	for (unsigned i = 0; i < uses.count; i++)
		if (uses.use[i].kind == FLOW_USE_STORE) {
			assert_null(found);
			found = &uses.use[i];
		}
	assert_non_null(found);
	return found;
}

static void forwards_into_half_a_vector(void **state)
{
	const struct flow_use *store = store_after(two_in_one_start, two_in_one_end, 0);

	(void)state;
	assert_int_equal(store->first, 0);
	assert_int_equal(store->length, 8);
	store = store_after(two_converted_start, two_converted_end, 0);
	assert_int_equal(store->first, 0);
	assert_int_equal(store->length, 8);
	assert_false(store->bypassed);
}

static void a_store_may_be_passed_by(void **state)
{
	(void)state;
	assert_false(store_after(stores_each_start, stores_each_end, 0)->bypassed);
	assert_true(store_after(stores_some_start, stores_some_end, 0)->bypassed);
}

static void a_sum_is_of_each_load(void **state)
{
	(void)state;
	assert_false(store_after(adds_all_start, adds_all_end, 0)->bypassed);
	assert_false(store_after(adds_vectors_start, adds_vectors_end, 0)->bypassed);
	assert_true(store_after(adds_some_start, adds_some_end, 0)->bypassed);
	assert_true(store_after(adds_and_leaves_start, adds_and_leaves_end, 0)->bypassed);
	assert_true(store_after(chooses_start, chooses_end, 0)->bypassed);
	assert_true(store_after(keeps_last_start, keeps_last_end, 0)->bypassed);
}

static void a_real_is_returned_in_a_vector(void **state)
{
	(void)state;
	assert_int_equal(flow_uses_of_load(returns_real_start,
					   (size_t)(returns_real_end - returns_real_start), START,
					   START, 0, 8, &work, &uses),
			 0);
	assert_int_equal(uses.count, 1);
	assert_int_equal(uses.use[0].kind, FLOW_USE_RETURN);
	assert_int_equal(uses.use[0].place.kind, INSN_PLACE_VECTOR);
}

/* call 0x2000; mov %rdx,(%rbx); ret: the second word of a structure */
static void what_a_call_returns_in_its_second_register(void **state)
{
	static const uint8_t code[] = {0xe8, 0xfb, 0x0f, 0x00, 0x00, 0x48, 0x89, 0x13, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 5, 0, 8), 0);
	assert_int_equal(slice.ends, 1);
	assert_int_equal(slice.end[0].kind, FLOW_END_RETURN);
	assert_int_equal(slice.end[0].place.number, 2);
}

/* mov (%rdi),%rdx; mov (%rsi),%rax; ret */
static void each_register_is_returned_from_its_own_source(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x17, 0x48, 0x8b, 0x06, 0xc3};
	static const struct insn_place rdx = {.kind = INSN_PLACE_GENERAL, .number = 2, .length = 8};

	(void)state;
	assert_int_equal(flow_slice_return(code, sizeof(code), START, rdx, &work, &slice), 0);
	assert_int_equal(slice.ends, 1);
	assert_int_equal(slice.end[0].kind, FLOW_END_LOAD);
	assert_int_equal(slice.end[0].pc, START);
}

static bool is_2000(void *context, uint64_t target)
{
	(void)context;
	return target == 0x2000;
}

/*
 * mov (%rdi),%rbx; cmp %rsi,%rdi; jb 1: ; mov (%rsi),%rbx; call 0x2000; 1: mov %rbx,(%rdx); ret
 * Nobody comes from the call to the store, if it never returned.
 */
static void nobody_comes_from_a_call_that_never_returned(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x1f, 0x48, 0x39, 0xf7, 0x72, 0x08, 0x48, 0x8b,
				       0x1e, 0xe8, 0xf0, 0x0f, 0x00, 0x00, 0x48, 0x89, 0x1a, 0xc3};

	(void)state;
	assert_int_equal(slice_store(code, sizeof(code), 16, 0, 8), 0);
	assert_int_equal(slice.ends, 2);
	work.never_returned = is_2000;
	assert_int_equal(slice_store(code, sizeof(code), 16, 0, 8), 0);
	work.never_returned = NULL;
	assert_int_equal(slice.ends, 1);
	assert_int_equal(slice.end[0].pc, START);
}

static bool read_part(const void *table, size_t size, uint64_t offset, void *bytes, size_t length)
{
	if (offset > size || length > size - offset)
		return false;
	memcpy(bytes, (const char *)table + offset, length);
	return true;
}

static bool read_table(void *context, uint64_t address, void *bytes, size_t length)
{
	static const uint64_t addresses[] = {START + 9, START + 14, 0};
	static const int32_t distances[] = {START + 16 - 0x3000, START + 21 - 0x3000, 0};

	(void)context;
	return address < 0x3000
		       ? read_part(addresses, sizeof(addresses), address - 0x2000, bytes, length)
		       : read_part(distances, sizeof(distances), address - 0x3000, bytes, length);
}

static bool read_far_table(void *context, uint64_t address, void *bytes, size_t length)
{
	static const uint64_t addresses[40] = {START + 14, START + 19, 0};

	(void)context;
	return read_part(addresses, sizeof(addresses), address - 0x2000, bytes, length);
}

/*
 * mov (%rdx),%eax; jmp *0x2000(,%rdi,8); 0: mov $5,%eax; 1: mov %eax,(%rsi); ret
 * The same with lea 0x3000(%rip),%r8; movslq (%r8,%rdi,4),%rdi; jmp *%rdi.
 * A case that the one before it falls through to.
 */
static void a_label_that_is_fallen_through_to(void **state)
{
	static const uint8_t absolute[] = {0x8b, 0x02, 0xff, 0x24, 0xfd, 0x00, 0x20, 0x00, 0x00,
					   0xb8, 0x05, 0x00, 0x00, 0x00, 0x89, 0x06, 0xc3};
	static const uint8_t relative[] = {0x8b, 0x02, 0x4c, 0x8d, 0x05, 0xf7, 0x1f, 0x00,
					   0x00, 0x49, 0x63, 0x3c, 0xb8, 0x90, 0xff, 0xe7,
					   0xb8, 0x05, 0x00, 0x00, 0x00, 0x89, 0x06, 0xc3};

	(void)state;
	work.read = read_table;
	assert_int_equal(slice_store(absolute, sizeof(absolute), 14, 0, 4), 0);
	assert_int_equal(slice.ends, 2);
	assert_int_equal(slice_store(relative, sizeof(relative), 21, 0, 4), 0);
	assert_int_equal(slice.ends, 2);
	work.read = NULL;
}

/* lea 0x2000(%rip),%r8; jmp *(%r8,%rdi,8), as position-independent code has it. */
static void a_table_of_addresses_that_is_named_by_its_place(void **state)
{
	static const uint8_t code[] = {0x8b, 0x02, 0x4c, 0x8d, 0x05, 0xf7, 0x0f, 0x00,
				       0x00, 0x41, 0xff, 0x24, 0xf8, 0x90, 0xb8, 0x05,
				       0x00, 0x00, 0x00, 0x89, 0x06, 0xc3};

	(void)state;
	work.read = read_far_table;
	assert_int_equal(slice_store(code, sizeof(code), 19, 0, 4), 0);
	assert_int_equal(slice.ends, 2);
	work.read = NULL;
}

static unsigned reads;

static bool read_labels_for_ever(void *context, uint64_t address, void *bytes, size_t length)
{
	(void)context, (void)address;
	reads++;
	memset(bytes, 0, length);
	for (size_t i = 0; i + 8 <= length; i += 8)
		memcpy((char *)bytes + i, &(uint64_t){START}, 8);
	return true;
}

/* 1000 times lea N(%rip),%r8, each of another table; jmp *%rax. */
static void tables_without_end(void **state)
{
	static uint8_t code[7002];

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		uint32_t place = 0x10000 + i * 64;

		memcpy(code + i * 7, (const uint8_t[]){0x4c, 0x8d, 0x05}, 3);
		memcpy(code + i * 7 + 3, &place, 4);
	}
	memcpy(code + 7000, (const uint8_t[]){0xff, 0xe0}, 2);
	work.read = read_labels_for_ever;
	reads = 0;
	slice_store(code, sizeof(code), 7000, 0, 8);
	work.read = NULL;
	assert_in_range(reads, 1, 2000);
}

static void code_may_be_anything(void **state)
{
	static const struct insn_place rdx = {.kind = INSN_PLACE_GENERAL, .number = 2, .length = 8};
	uint8_t code[512];
	uint32_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < sizeof(code); i++) {
			random = random * 1664525u + 1013904223u;
			code[i] = (uint8_t)(random >> 24);
		}
		slice_store(code, sizeof(code), round % 64, 0, 8);
		flow_slice_return(code, sizeof(code), START, rdx, &work, &slice);
		flow_uses_of_load(code, sizeof(code), START, START + round % 64, 0, 8, &work,
				  &uses);
	}
	assert_int_not_equal(slice_store(code, FLOW_SLICE_CODE + 1, 0, 0, 8), 0);
}

CODE(compares, "cmp %rsi, %rdi\nsetl %al\nmovzbl %al, %eax\ncompares_store: mov %eax, (%rdx)\nret");
CODE(spreads, "cmp %rsi, %rdi\nsbb %eax, %eax\nspreads_store: mov %eax, (%rdx)\nret");
CODE(fills, "or $-1, %eax\nfills_store: mov %eax, (%rdx)\nret");
CODE(counts_time, "rdtsc\ncounts_time_store: mov %eax, (%rsi)\nret");
CODE(pushes, "pushes_store: push $42\npop %rax\nret");
CODE(exchanges, "mov (%rdi), %rax\nlea 1(%rax), %rcx\nmov (%rsi), %rdx\n"
		"exchanges_store: lock cmpxchg %rdx, (%r8)\nret");
extern const uint8_t compares_store[], spreads_store[], fills_store[], counts_time_store[],
	pushes_store[], exchanges_store[];

static void ends_are_what_they_are(void **state)
{
	static const struct {
		const uint8_t *start, *end, *store;
		unsigned length;
		enum flow_end_kind kind;
		uint64_t constant;
		bool copies;
	} cases[] = {
		{compares_start, compares_end, compares_store, 4, FLOW_END_UNKNOWN, 0, false},
		{spreads_start, spreads_end, spreads_store, 4, FLOW_END_UNKNOWN, 0, false},
		{fills_start, fills_end, fills_store, 4, FLOW_END_CONSTANT, UINT32_MAX, false},
		{counts_time_start, counts_time_end, counts_time_store, 4, FLOW_END_UNKNOWN, 0,
		 false},
		{pushes_start, pushes_end, pushes_store, 8, FLOW_END_CONSTANT, 42, true},
		/* The value that is expected is no origin of the one that is stored. */
		{exchanges_start, exchanges_end, exchanges_store, 8, FLOW_END_LOAD, 0, true},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(slice_store(cases[i].start,
					     (size_t)(cases[i].end - cases[i].start),
					     (unsigned)(cases[i].store - cases[i].start), 0,
					     cases[i].length),
				 0);
		assert_int_equal(slice.ends, 1);
		assert_int_equal(slice.end[0].kind, cases[i].kind);
		assert_true(slice.end[0].constant == cases[i].constant);
		assert_int_equal(slice.copies, cases[i].copies);
	}
	assert_int_equal(slice.end[0].pc, START + 7);
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
		cmocka_unit_test(halves_of_a_vector_keep_apart),
		cmocka_unit_test(a_loop_may_keep_an_earlier_value),
		cmocka_unit_test(a_store_of_a_load_each_time),
		cmocka_unit_test(many_stores_of_one_load),
		cmocka_unit_test(forwards_into_half_a_vector),
		cmocka_unit_test(a_store_may_be_passed_by),
		cmocka_unit_test(a_sum_is_of_each_load),
		cmocka_unit_test(a_real_is_returned_in_a_vector),
		cmocka_unit_test(what_a_call_returns_in_its_second_register),
		cmocka_unit_test(each_register_is_returned_from_its_own_source),
		cmocka_unit_test(nobody_comes_from_a_call_that_never_returned),
		cmocka_unit_test(a_label_that_is_fallen_through_to),
		cmocka_unit_test(a_table_of_addresses_that_is_named_by_its_place),
		cmocka_unit_test(tables_without_end),
		cmocka_unit_test(ends_are_what_they_are),
		cmocka_unit_test(code_may_be_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
