/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of which it is known that what they have loaded is in what is stored, and such as look
 * alike. */
#include "slice/slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "code.h"

#define START 0x1000

/* while (*text is a digit) number = 10 * number + *text++ - '0'; return number; */
CODE(number, "xor %eax, %eax\n"
	     "1: movzbl (%rdi), %edx\n"
	     "sub $48, %edx\n"
	     "cmp $9, %dl\n"
	     "ja 2f\n"
	     "lea (%rax,%rax,4), %rax\n"
	     "lea (%rdx,%rax,2), %rax\n"
	     "inc %rdi\n"
	     "jmp 1b\n"
	     "2: ret");
/* The same, but what is no digit is returned as 0: digits before it were lost. */
CODE(refusing, "xor %eax, %eax\n"
	       "1: movzbl (%rdi), %edx\n"
	       "sub $48, %edx\n"
	       "cmp $9, %dl\n"
	       "ja 2f\n"
	       "lea (%rax,%rax,4), %rax\n"
	       "lea (%rdx,%rax,2), %rax\n"
	       "inc %rdi\n"
	       "cmp %rsi, %rdi\n"
	       "jb 1b\n"
	       "ret\n"
	       "2: xor %eax, %eax\n"
	       "ret");
/* The same, and the number is stored where it is not refused. */
CODE(storing, "xor %eax, %eax\n"
	      "1: movzbl (%rdi), %edx\n"
	      "sub $48, %edx\n"
	      "cmp $9, %dl\n"
	      "ja 2f\n"
	      "lea (%rax,%rax,4), %rax\n"
	      "lea (%rdx,%rax,2), %rax\n"
	      "inc %rdi\n"
	      "cmp %rsi, %rdi\n"
	      "jb 1b\n"
	      "3: mov %rax, (%rcx)\n"
	      "mov $1, %eax\n"
	      "ret\n"
	      "2: cmp %rsi, %rdi\n"
	      "jae 3b\n"
	      "xor %eax, %eax\n"
	      "ret");
/* A sum that starts anew where %rcx says so, behind a load. */
CODE(forgetful, "xor %eax, %eax\n"
		"1: add (%rdi), %rax\n"
		"add $8, %rdi\n"
		"test %rcx, %rcx\n"
		"je 2f\n"
		"xor %eax, %eax\n"
		"2: cmp %rsi, %rdi\n"
		"jb 1b\n"
		"ret");
/* Words: which of them count nobody foretells. */
CODE(words, "xor %eax, %eax\n"
	    "1: mov (%rdi), %rdx\n"
	    "cmp $9, %rdx\n"
	    "ja 2f\n"
	    "add %rdx, %rax\n"
	    "add $8, %rdi\n"
	    "jmp 1b\n"
	    "2: ret");
/* A number of the last character alone. */
CODE(last, "xor %eax, %eax\n"
	   "1: movzbl (%rdi), %edx\n"
	   "test %edx, %edx\n"
	   "je 2f\n"
	   "lea -48(%rdx), %eax\n"
	   "inc %rdi\n"
	   "jmp 1b\n"
	   "2: ret");
static struct flow_slice_work work;
static struct flow_slice slice;

static const struct flow_end *load_of(const uint8_t *code, const uint8_t *end)
{
	static const struct insn_place rax = {.kind = INSN_PLACE_GENERAL, .length = 8};

	assert_int_equal(flow_slice_return(code, (size_t)(end - code), START, rax, &work, &slice),
			 0);
	for (unsigned i = 0; i < slice.ends; i++)
		if (slice.end[i].kind == FLOW_END_LOAD)
			return &slice.end[i];
	fail_msg("no load");
	return NULL;
}

#define LOAD_OF(name) load_of(name##_start, name##_end)

static bool is_lost(const struct flow_end *end, unsigned byte)
{
	return end->bytes_lost && end->byte_lost[byte / 64] >> byte % 64 & 1;
}

static void digits_alone_count(void **state)
{
	const struct flow_end *end = LOAD_OF(number);

	(void)state;
	assert_true(end->earlier_pass);
	assert_true(end->gathers);
	for (unsigned byte = 0; byte < 256; byte++)
		assert_int_equal(is_lost(end, byte), byte < '0' || byte > '9');
	assert_false(LOAD_OF(refusing)->gathers);
}

static void what_is_refused_is_not_stored(void **state)
{
	const size_t length = (size_t)(storing_end - storing_start), store = length - 17;
	const struct flow_stored stored = {0, 0, 8};

	(void)state;
	assert_int_equal(flow_slice_store(storing_start, length, START, START + store, &stored,
					  &work, &slice),
			 0);
	for (unsigned i = 0; i < slice.ends; i++)
		if (slice.end[i].kind == FLOW_END_LOAD) {
			assert_true(slice.end[i].gathers);
			assert_true(is_lost(&slice.end[i], '/'));
			assert_false(is_lost(&slice.end[i], '0'));
			/* rdi alone changes of the address, rsi does not. */
			assert_false(slice.end[i].kept & 1u << 7);
			assert_true(slice.end[i].kept & 1u << 6);
		}
	assert_true(slice.ends);
}

static void what_may_be_forgotten(void **state)
{
	(void)state;
	assert_false(LOAD_OF(forgetful)->gathers);
	assert_false(LOAD_OF(last)->gathers);
	assert_false(LOAD_OF(words)->gathers);
	/* Then no byte counts for less than others. */
	assert_false(LOAD_OF(words)->bytes_lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_alone_count),
		cmocka_unit_test(what_is_refused_is_not_stored),
		cmocka_unit_test(what_may_be_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
