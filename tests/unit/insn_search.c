/* SPDX-License-Identifier: Apache-2.0 */
/* Whether code looks for the end of something, told from the code alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "insn/search.h"

#include "code.h"

#include <string.h>

CODE(sse2, "pxor %xmm0, %xmm0\npcmpeqb (%rdi), %xmm0\npmovmskb %xmm0, %eax\ntest %eax, %eax\nret");
CODE(avx2, "vpcmpeqb (%rdi), %ymm0, %ymm1\nvpmovmskb %ymm1, %eax\nret");
CODE(evex, "vpcmpeqb (%rdi), %ymm16, %k0\nkmovd %k0, %eax\nret");
CODE(evex_long,
     "vpminub 32(%rdi), %ymm16, %ymm17\nvptestnmb %ymm17, %ymm17, %k0\nkortestd %k0, %k0\nret");
CODE(sse4, "movdqu (%rdi), %xmm0\npxor (%rsi), %xmm0\nptest %xmm0, %xmm0\nret");
CODE(sse42, "movdqu (%rdi), %xmm1\npcmpistri $0x1a, %xmm1, %xmm0\nret");
CODE(sum, "1: paddd (%rdi), %xmm0\nadd $16, %rdi\ncmp %rsi, %rdi\njne 1b\nmovd %xmm0, %eax\nret");
CODE(copy, "vmovdqu (%rsi), %ymm0\nvmovdqu %ymm0, (%rdi)\nret");
CODE(masked, "kmovd %esi, %k1\nvmovdqu8 (%rdi), %ymm16{%k1}{z}\nret");
CODE(broken, "movdqu (%rdi), %xmm0\n.byte 0x06");
CODE(word, "movabs $0xfefefefefefefeff, %rsi\nmov (%rdi), %rdx\nadd %rdx, %rsi\nret");
CODE(words, "movabs $0x8080808080808080, %r8\nmov (%rdi), %rdx\nand %r8, %rdx\nret");
CODE(lower, "mov (%rdi), %rdx\nmovabs $0x7f7f7f7f7f7f7f7f, %rax\nadd %rax, %rdx\nret");
CODE(half, "mov (%rdi), %edx\nlea -0x1010101(%rdx), %eax\nand $0x80808080, %eax\nret");
CODE(distant, "mov (%rdi), %rdx\nand 8(%rip), %rdx\nret");
CODE(count, "movabs $0x0101010101010101, %rdx\nimul %rdx, %rax\nret");

struct row {
	const uint8_t *start, *end;
	bool vectors, words, halves; /* of 8 bytes, of 4 */
};

#define ROW(name, vectors, words, halves)                        \
	{                                                        \
		name##_start, name##_end, vectors, words, halves \
	}

static const struct row rows[] = {
	ROW(sse2, true, false, false),	   ROW(avx2, true, false, false),
	ROW(evex, true, false, false),	   ROW(evex_long, true, false, false),
	ROW(sse4, true, false, false),	   ROW(sse42, true, false, false),
	ROW(sum, false, false, false),	   ROW(copy, false, false, false),
	ROW(masked, false, false, false),  ROW(broken, true, false, false),
	ROW(word, false, true, true),	   ROW(words, false, true, true),
	ROW(lower, false, true, true),	   ROW(half, false, false, true),
	ROW(distant, false, false, false), ROW(count, false, false, false),
};

static int read_constant(void *context, uint64_t address, void *to, size_t length)
{
	const uint64_t *constant = context;

	assert_int_equal(address, 0x1000 + (uint64_t)(distant_end - distant_start) - 1 + 8);
	memcpy(to, constant, length);
	return 0;
}

static void constants_in_memory_count(void **state)
{
	uint64_t constant = 0x8080808080808080;
	const struct insn_memory memory = {.read = read_constant, .context = &constant};
	const size_t length = (size_t)(distant_end - distant_start);

	(void)state;
	assert_true(insn_searches_by_constant(distant_start, length, 0x1000, 8, &memory));
	assert_false(insn_searches_by_constant(distant_start, length, 0x1000, 4, &memory));
	constant = 0x8080808080808000;
	assert_false(insn_searches_by_constant(distant_start, length, 0x1000, 8, &memory));
}

static void the_table_holds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t length = (size_t)(rows[i].end - rows[i].start);

		print_message("row %zu\n", i);
		assert_int_equal(insn_searches_vectors(rows[i].start, length, 0x1000),
				 rows[i].vectors);
		assert_int_equal(insn_searches_words(rows[i].start, length, 8), rows[i].words);
		assert_int_equal(insn_searches_words(rows[i].start, length, 4), rows[i].halves);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_holds),
		cmocka_unit_test(constants_in_memory_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
