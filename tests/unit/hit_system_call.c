/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of the watched ones a system call copied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include <trapline/event.h>

#include "hit/system_call.h"

#define CODE 0x1000u
#define BUFFER 0x8003u
#define VECTORS 0x9000u
#define MESSAGE 0xa000u

static uint8_t code[7]; /* mov $n,%eax; syscall */
static const uint64_t vectors[] = {0x7000, 16, BUFFER, 2, 0x8006, 100};
static const uint64_t message[] = {0, 0, VECTORS, 3};

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	static const struct {
		uint64_t start;
		const void *bytes;
		size_t length;
	} parts[] = {{CODE, code, sizeof(code)},
		     {VECTORS, vectors, sizeof(vectors)},
		     {MESSAGE, message, sizeof(message)}};

	(void)context;
	for (size_t i = 0; i < 3; i++)
		if (address >= parts[i].start &&
		    address + length <= parts[i].start + parts[i].length) {
			memcpy(to, (const char *)parts[i].bytes + (address - parts[i].start),
			       length);
			return 0;
		}
	return -EFAULT;
}

/* Eight bytes are watched from 0x8000. */
static const struct {
	const char *name;
	int number;
	uint64_t buffer, count;
	int64_t result;
	unsigned access;
	uint64_t first, length;
} cases[] = {
	{"read of one byte", 0, BUFFER, 1, 1, TL_WRITE, BUFFER, 1},
	{"write of one byte", 1, BUFFER, 1, 1, TL_READ, BUFFER, 1},
	{"read of less than asked for", 0, 0x8002, 100, 3, TL_WRITE, 0x8002, 3},
	{"read of all and more", 0, 0x7f00, 4096, 4096, TL_WRITE, 0x8000, 8},
	{"read up to the middle", 0, 0x7ffe, 4, 4, TL_WRITE, 0x8000, 2},
	{"a datagram cut off", 45, BUFFER, 2, 500, TL_WRITE, BUFFER, 2},
	{"a read that failed on the way", 17, 0x8004, 2, -EFAULT, TL_WRITE, 0x8004, 2},
	{"pwrite64", 18, 0x8004, 2, 2, TL_READ, 0x8004, 2},
	{"an address beside the buffer", 44, 0x6000, 2, 2, TL_READ, 0x8000, 8},
	{"the second vector", 19, VECTORS, 3, 200, TL_WRITE, BUFFER, 2},
	{"the second vector, in part", 19, VECTORS, 3, 17, TL_WRITE, BUFFER, 1},
	{"vectors that cannot be read", 20, 0x1, 3, 200, TL_READ, 0x8000, 8},
	{"recvmsg", 47, MESSAGE, 0, 18, TL_WRITE, BUFFER, 2},
	{"sendmsg", 46, MESSAGE, 0, 200, TL_READ, BUFFER, 2},
};

static bool copied(int number, const struct insn_registers *after, unsigned *access,
		   struct insn_bytes *bytes)
{
	const struct insn_memory memory = {.read = read_memory};
	const struct insn_bytes watched = {0x8000, 8};

	code[0] = 0xb8;
	memcpy(code + 1, &number, sizeof(number));
	code[5] = 0x0f;
	code[6] = 0x05;
	return system_call_copied(after, &memory, &watched, access, bytes);
}

static void test_extents(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct insn_registers after = {.pc = CODE + sizeof(code)};
		struct insn_bytes bytes;
		unsigned access;

		print_message("%s\n", cases[i].name);
		after.general[0] = (uint64_t)cases[i].result;
		after.general[1] = after.pc;
		after.general[2] = cases[i].count;
		after.general[6] = cases[i].buffer;
		assert_true(copied(cases[i].number, &after, &access, &bytes));
		assert_int_equal(access, cases[i].access);
		assert_int_equal(bytes.address, cases[i].first);
		assert_int_equal(bytes.length, cases[i].length);
	}
}

static void test_others(void **state)
{
	struct insn_registers after = {.pc = CODE + sizeof(code)};
	struct insn_bytes bytes;
	unsigned access;

	(void)state;
	assert_false(copied(0, &after, &access, &bytes)); /* rcx is not the return address */
	after.general[1] = after.pc;
	assert_false(copied(202, &after, &access, &bytes)); /* futex */
	assert_true(copied(0, &after, &access, &bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_extents),
					   cmocka_unit_test(test_others)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
