/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of a load the code behind it throws away, in code assembled here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "insn/discard.h"

#include "code.h"

#define OBJECT 0x10040u

/* A load of `length` bytes at OBJECT, %rcx, and what follows it. */
CODE(low_field, "mov (%rcx), %eax\nand $0xfffff, %eax\nret");
CODE(high_field, "mov (%rcx), %eax\nshr $24, %eax\nmov %eax, (%rdi)\nret");
CODE(tested, "mov (%rcx), %eax\ntest $0xfff, %eax\nmov $1, %eax\njne low_field_start");
CODE(tested_in_memory, "testl $0xfff, (%rcx)\njne low_field_start");
CODE(copied, "mov (%rcx), %eax\nmov %eax, %edx\nand $0xfffff, %edx\nret");
CODE(extended, "mov (%rcx), %eax\nmovzwl %ax, %eax\nret");
CODE(stored, "mov (%rcx), %eax\nmov %eax, (%rdi)\nand $0xfffff, %eax\nret");
CODE(returned, "mov (%rcx), %eax\nret");
CODE(unused, "mov (%rcx), %eax\nmov $5, %eax\nret");
CODE(behind_branch, "mov (%rcx), %eax\njne low_field_start\nand $0xfffff, %eax\nret");
CODE(chosen, "mov (%rcx), %eax\ncmp %edi, %esi\ncmove 4(%rcx), %eax\nret");
CODE(not_chosen, "mov (%rcx), %eax\ncmp %edi, %esi\ncmovne 4(%rcx), %eax\nret");
CODE(chosen_later, "mov (%rcx), %eax\nmov %eax, %edx\ncmp %edi, %esi\ncmove %r8d, %eax\nret");
CODE(replaced, "mov (%rcx), %eax\nmov $3, %al\nret");

/* Vectors. Structures of two or four members, of which a loop is about one. */
CODE(every_second,
     "movdqu (%rcx), %xmm1\nmovdqu 16(%rcx), %xmm2\nadd $32, %rcx\nshufps $0x88, %xmm2, %xmm1\n"
     "paddd %xmm1, %xmm0\ncmp %rcx, %rdx\njne every_second_start");
CODE(every_second_of_more,
     "vmovdqu (%rcx), %ymm1\nvshufps $0x88, 32(%rcx), %ymm1, %ymm1\nvpermq $0xd8, %ymm1, %ymm1\n"
     "vpaddd %ymm1, %ymm0, %ymm0\nret");
CODE(of_bytes, "vmovdqu (%rcx), %xmm1\nvpsrlw $8, %xmm1, %xmm1\nvpackuswb %xmm1, %xmm1, %xmm1\n"
	       "vmovq %xmm1, (%rdi)\nret");
CODE(fourth, "movdqu (%rcx), %xmm1\npsrldq $12, %xmm1\nmovd %xmm1, %eax\nret");
CODE(extracted,
     "movdqu (%rcx), %xmm1\npextrd $2, %xmm1, %eax\nmov $0, %edx\nmovd %edx, %xmm1\nret");
CODE(loaded_anew,
     "1: movups (%rdi), %xmm2\nmovups 16(%rdi), %xmm3\nshufps $0x88, %xmm3, %xmm2\npaddd %xmm2, %xmm1\n"
     "loaded_anew_from: movups (%rcx), %xmm3\nshufps $0x88, %xmm3, %xmm1\nadd $16, %rcx\ncmp %rcx, %rdx\n"
     "jne 1b\nmovd %xmm1, %eax\nret");
CODE(needed_later,
     "1: paddd %xmm3, %xmm1\nneeded_later_from: movups (%rcx), %xmm3\nshufps $0x88, %xmm3, %xmm2\n"
     "cmp %rcx, %rdx\njne 1b\nmovd %xmm1, %eax\nret");
extern const uint8_t loaded_anew_from[], needed_later_from[];
CODE(back_in_place,
     "1: movdqu (%rcx), %xmm1\npaddd %xmm0, %xmm1\nmovdqu %xmm1, (%rcx)\nadd $16, %rcx\ncmp %rcx, %rdx\n"
     "jne 1b\n2: mov (%rcx), %eax\nadd $4, %rcx\ncmp %rcx, %rdx\njne 2b\nret");
CODE(some_back_in_place,
     "1: movdqu (%rcx), %xmm1\nshufps $0x88, %xmm1, %xmm1\npaddd %xmm0, %xmm1\nmovd %xmm1, (%rcx)\n"
     "add $16, %rcx\ncmp %rcx, %rdx\njne 1b\n2: mov (%rcx), %eax\nadd $4, %rcx\ncmp %rcx, %rdx\njne 2b\nret");
CODE(lowest, "vmovaps (%rcx), %xmm1\nvaddss %xmm1, %xmm0, %xmm0\nvextractf128 $1, %ymm5, %xmm1\n"
	     "vaddss %xmm1, %xmm0, %xmm0\njne lowest_start");
CODE(unpacked, "punpckhdq (%rcx), %xmm0\nret");
CODE(upper_half,
     "vmovdqu (%rcx), %ymm1\nvextracti128 $1, %ymm1, (%rdi)\nvpxor %xmm1, %xmm1, %xmm1\nret");
CODE(some_by_register, "vpermd (%rcx), %ymm4, %ymm0\nvpaddd %ymm0, %ymm1, %ymm1\nret");
CODE(some_by_mask_in_loop,
     "1: movdqu (%rcx), %xmm0\nmovdqa %xmm0, %xmm3\npand %xmm2, %xmm3\npaddd %xmm3, %xmm1\nadd $16, %rcx\n"
     "cmp %rcx, %rdx\njne 1b\nmovd %xmm1, %eax\nret");
CODE(some_by_mask,
     "movdqu (%rcx), %xmm0\npand %xmm2, %xmm0\npackuswb %xmm0, %xmm0\nmovq %xmm0, (%rdi)\nret");
CODE(all_summed, "movdqu (%rcx), %xmm1\npaddd %xmm1, %xmm0\ncmp %rcx, %rdx\njne all_summed_start");
CODE(all_copied, "movups (%rcx), %xmm1\nmovups %xmm1, (%rdi)\nret");
CODE(all_copied_and_some_sorted,
     "movups (%rcx), %xmm1\nmovups %xmm1, 64(%rcx)\npshufb %xmm2, %xmm1\n"
     "movups %xmm1, 16(%rdi)\nret");
CODE(all_compared,
     "movdqu (%rcx), %xmm1\npcmpeqb %xmm1, %xmm0\npmovmskb %xmm0, %eax\ntest %eax, %eax\n"
     "jne all_compared_start");
CODE(upper_of_each, "movdqu (%rcx), %xmm1\npsrlq $36, %xmm1\nmovdqu %xmm1, (%rdi)\nret");
CODE(lower_of_each, "movdqu (%rcx), %xmm1\npmuludq %xmm2, %xmm1\nmovdqu %xmm1, (%rdi)\nret");
CODE(above_sums,
     "movdqu (%rcx), %xmm1\npsadbw %xmm2, %xmm1\npsrlq $16, %xmm1\nmovdqu %xmm1, (%rdi)\nret");
/* Two floats that are returned, behind a branch, and what a loop leaves in the same register. */
CODE(two_returned, "movq (%rcx), %xmm0\ntest %edi, %edi\nje 1f\nmov $1, %eax\n1: ret");
CODE(two_left,
     "1: movq (%rcx), %xmm0\npshufd $0x50, %xmm0, %xmm1\nmovq %xmm1, %rsi\nmov %esi, (%rdi)\n"
     "add $8, %rcx\ncmp %rcx, %rdx\njne 1b\nret");
CODE(to_x87, "fildll (%rcx)\nfistpll (%rdi)\nret");
/* As unrolled loops are. */
CODE(far_behind,
     "vmovdqu (%rcx), %ymm1\n.rept 24\nvmovdqu 32(%rcx), %ymm2\nvpaddd 64(%rcx), %ymm2, %ymm2\n"
     "vmovdqu %ymm2, (%rdi)\n.endr\nvshufps $0x88, %ymm1, %ymm1, %ymm1\nvmovdqu %ymm1, (%rdi)\nret");

/* It is in this process. */
static size_t read_code(void *context, uint64_t pc, uint8_t *bytes, size_t most)
{
	const uint8_t *from =
		(const uint8_t *)(uintptr_t)pc; /* NOLINT(performance-no-int-to-ptr) */

	(void)context;
	memcpy(bytes, from, most);
	return most;
}

static const struct insn_hoist beyond = {.code = read_code};

static bool discards_of(const uint8_t *start, const uint8_t *end, bool before, uint64_t size,
			uint64_t first, uint64_t length)
{
	struct insn_registers registers = {.pc = (uintptr_t)start};
	const struct insn_bytes loaded = {OBJECT, size}, part = {OBJECT + first, length};
	struct insn insn;

	for (int i = 0; i < 16; i++)
		registers.general[i] = 0x666000;
	registers.general[1] = OBJECT;
	assert_int_equal(insn_decode(start, (size_t)(end - start), (uintptr_t)start, &insn), 0);
	registers.pc += before ? 0 : insn.length;
	return insn_discards(start, (size_t)(end - start), (uintptr_t)start, &beyond, &registers,
			     before, &loaded, &part);
}

static bool discards_from(const uint8_t *start, const uint8_t *end, bool before, uint64_t first,
			  uint64_t length)
{
	return discards_of(start, end, before, 4, first, length);
}

static bool discards(const uint8_t *start, const uint8_t *end, uint64_t first, uint64_t length)
{
	return discards_from(start, end, false, first, length);
}

#define DISCARDS(name, first, length) discards(name##_start, name##_end, first, length)

static void what_a_mask_leaves_out(void **state)
{
	(void)state;
	assert_true(DISCARDS(low_field, 3, 1));
	assert_false(DISCARDS(low_field, 2, 1)); /* half of it */
	assert_false(DISCARDS(low_field, 0, 1));
	assert_false(DISCARDS(low_field, 2, 2));
	assert_false(DISCARDS(low_field, 0, 4));
	assert_true(DISCARDS(high_field, 0, 2));
	assert_false(DISCARDS(high_field, 3, 1));
	assert_true(DISCARDS(tested, 2, 2));
	assert_false(DISCARDS(tested, 1, 1));
	assert_true(DISCARDS(tested_in_memory, 2, 1));
	assert_false(DISCARDS(tested_in_memory, 0, 2));
	assert_true(DISCARDS(extended, 2, 2));
	assert_true(DISCARDS(replaced, 0, 1));
}

static void what_is_kept(void **state)
{
	(void)state;
	assert_false(DISCARDS(copied, 3, 1)); /* %eax has it still */
	assert_false(DISCARDS(stored, 3, 1));
	assert_false(DISCARDS(returned, 3, 1));
	assert_false(DISCARDS(behind_branch, 3, 1));
}

/* Nothing tells what it was loaded for. */
static void what_is_not_used_at_all(void **state)
{
	(void)state;
	assert_false(DISCARDS(unused, 3, 1));
	assert_false(DISCARDS(unused, 0, 4));
}

/* `c ? x : y` where both are loaded. */
static void what_a_choice_leaves_out(void **state)
{
	(void)state;
	assert_true(DISCARDS(chosen, 0, 4));
	assert_true(DISCARDS(chosen, 0, 1));
	assert_false(DISCARDS(not_chosen, 0, 4));
	assert_false(DISCARDS(chosen_later, 0, 4));
}

/* The thread is held before it. */
static void what_will_be_loaded(void **state)
{
	(void)state;
	assert_true(discards_from(low_field_start, low_field_end, true, 3, 1));
	assert_false(discards_from(low_field_start, low_field_end, true, 2, 1));
	assert_false(discards_from(tested_in_memory_start, tested_in_memory_end, true, 3, 1));
}

/* Of `size` bytes loaded into a vector, before the load and behind it. */
static bool drops(const uint8_t *start, const uint8_t *end, uint64_t size, uint64_t first,
		  uint64_t length)
{
	bool behind = discards_of(start, end, false, size, first, length);

	assert_int_equal(discards_of(start, end, true, size, first, length), behind);
	return behind;
}

#define DROPS(name, size, first, length) drops(name##_start, name##_end, size, first, length)

static void elements_of_vectors(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(DROPS(every_second, 16, 4 * i, 4), i & 1);
		assert_int_equal(DROPS(fourth, 16, 4 * i, 4), i != 3);
		assert_int_equal(DROPS(extracted, 16, 4 * i, 4), i != 2);
		assert_int_equal(DROPS(lowest, 16, 4 * i, 4), i != 0);
		assert_int_equal(drops(loaded_anew_from, loaded_anew_end, 16, 4 * i, 4), i & 1);
		assert_false(DROPS(back_in_place, 16, 4 * i, 4));
		assert_int_equal(DROPS(some_back_in_place, 16, 4 * i, 4), i != 0);
		assert_false(drops(needed_later_from, needed_later_end, 16, 4 * i, 4));
		assert_int_equal(DROPS(unpacked, 16, 4 * i, 4), i < 2);
	}
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(DROPS(every_second_of_more, 32, 4 * i, 4), i & 1);
		assert_int_equal(DROPS(upper_half, 32, 4 * i, 4), i < 4);
		assert_int_equal(DROPS(far_behind, 32, 4 * i, 4), i & 1);
	}
	for (unsigned i = 0; i < 16; i++) {
		assert_int_equal(DROPS(of_bytes, 16, i, 1), !(i & 1));
		assert_int_equal(DROPS(upper_of_each, 16, i, 1), i % 8 < 4);
		assert_int_equal(DROPS(lower_of_each, 16, i, 1), i % 8 >= 4);
		assert_true(DROPS(above_sums, 16, i, 1));
	}
	assert_false(DROPS(two_left, 8, 0, 4));
	assert_true(DROPS(two_left, 8, 4, 4));
	assert_false(DROPS(every_second, 16, 3, 2));
	assert_false(DROPS(every_second, 16, 0, 16));
}

/* Which elements these take stands in a register that nobody noted. */
static void elements_in_doubt(void **state)
{
	(void)state;
	assert_true(DROPS(some_by_register, 32, 4, 4));
	assert_false(DROPS(some_by_register, 32, 0, 32));
	assert_true(DROPS(some_by_mask, 16, 1, 1));
	assert_true(DROPS(some_by_mask_in_loop, 16, 4, 4));
	assert_false(DROPS(some_by_mask, 16, 0, 16));
}

static void all_elements(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		assert_false(DROPS(all_summed, 16, i, 1));
		assert_false(DROPS(all_copied, 16, i, 1));
		assert_false(DROPS(all_copied_and_some_sorted, 16, i, 1));
		assert_false(DROPS(all_compared, 16, i, 1));
	}
	assert_false(DROPS(two_returned, 8, 0, 4));
	assert_false(DROPS(two_returned, 8, 4, 4));
	assert_false(DROPS(to_x87, 8, 4, 4));
	assert_false(DROPS(to_x87, 8, 0, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_mask_leaves_out),
		cmocka_unit_test(what_is_kept),
		cmocka_unit_test(what_is_not_used_at_all),
		cmocka_unit_test(what_a_choice_leaves_out),
		cmocka_unit_test(what_will_be_loaded),
		cmocka_unit_test(elements_of_vectors),
		cmocka_unit_test(elements_in_doubt),
		cmocka_unit_test(all_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
