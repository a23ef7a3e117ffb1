/* SPDX-License-Identifier: Apache-2.0 */
/* Which pushes of rax store what means nothing. */
#include "uninit/alignment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define START 0x1000u

struct code {
	const uint8_t *bytes;
	size_t length;
};

static size_t read_code(void *context, uint64_t pc, uint8_t *bytes, size_t max)
{
	const struct code *code = context;
	size_t at = pc - START, length;

	if (at >= code->length)
		return 0;
	length = code->length - at < max ? code->length - at : max;
	memcpy(bytes, code->bytes + at, length);
	return length;
}

struct row {
	const char *what;
	bool expected;
	unsigned push; /* offset of the push */
	uint8_t bytes[32];
	unsigned length;
};

#define CALL 0xe8, 0, 1, 0, 0

static const struct row rows[] = {
	{"push %rax; call", true, 0, {0x50, CALL}, 6},
	{"endbr64; push %rbx; push %rax; call",
	 true,
	 5,
	 {0xf3, 0x0f, 0x1e, 0xfa, 0x53, 0x50, CALL},
	 11},
	{"push %rax; xor %eax,%eax", true, 0, {0x50, 0x31, 0xc0}, 3},
	{"push %rax; mov %edi,%eax", true, 0, {0x50, 0x89, 0xf8}, 3},
	{"push %rax; cmp %esi,%edi; je; call", true, 0, {0x50, 0x39, 0xf7, 0x74, 0x10, CALL}, 10},
	{"of variable arguments: push %rax; test %al,%al",
	 false,
	 0,
	 {0x50, 0x84, 0xc0, 0x74, 0x10, CALL},
	 10},
	{"push %rax; mov %rax,%rdi; call", false, 0, {0x50, 0x48, 0x89, 0xc7, CALL}, 9},
	{"push %rax; mov (%rax),%rdi; call", false, 0, {0x50, 0x48, 0x8b, 0x38, CALL}, 9},
	{"push %rax; movzbl %al,%eax; call", false, 0, {0x50, 0x0f, 0xb6, 0xc0, CALL}, 9},
	{"push %rax; mov %dil,%al; call: the rest is kept",
	 false,
	 0,
	 {0x50, 0x40, 0x88, 0xf8, CALL},
	 9},
	{"push %rax; ret", false, 0, {0x50, 0xc3}, 2},
	{"xor %eax,%eax; push %rax; call", false, 2, {0x31, 0xc0, 0x50, CALL}, 8},
	{"call; push %rax; call", false, 5, {CALL, 0x50, CALL}, 11},
	{"push %rcx; call", false, 0, {0x51, CALL}, 6},
	{"not the function's start: %rax is passed by", false, 1, {0xc3, 0x50, CALL}, 7},
};

static void pushes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct code code = {rows[i].bytes, rows[i].length};

		if (is_alignment_push(read_code, &code, START, START + rows[i].push) !=
		    rows[i].expected)
			fail_msg("%s", rows[i].what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(pushes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
