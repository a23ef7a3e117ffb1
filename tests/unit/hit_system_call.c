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
#define MESSAGES 0xb000u
#define TOLD 0xc000u /* a message in the watched bytes, each of its parts in turn */
#define LENGTH 0xd000u
#define MANY 0xe000u

static uint8_t code[8]; /* of another instruction, mov $n,%eax; syscall */
static const uint64_t vectors[] = {0x7000, 16, BUFFER, 2, 0x8006, 100};
static const uint64_t message[7] = {0, 0, VECTORS, 3};
/* struct mmsghdr: the second one's first vector is of two bytes, of which one was received. */
static const uint64_t short_vectors[] = {BUFFER, 2};
static const uint64_t messages[16] = {0, 0, VECTORS,	    1, 0, 0, 0, 16,
				      0, 0, MESSAGES + 128, 1, 0, 0, 0, 1};
static const uint64_t told[7] = {0x8000, 4, VECTORS, 1, 0x8004, 2};
static const uint32_t peer_length[] = {4};
static const uint32_t long_length[] = {110}; /* in the watched bytes */
/* Empty vectors, and one behind those that are looked at. */
static const uint64_t many[140] = {[138] = BUFFER, [139] = 2};

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	static const struct {
		uint64_t start;
		const void *bytes;
		size_t length;
	} parts[] = {{CODE, code, sizeof(code)},
		     {VECTORS, vectors, sizeof(vectors)},
		     {MESSAGE, message, sizeof(message)},
		     {MESSAGES, messages, sizeof(messages)},
		     {MESSAGES + 128, short_vectors, sizeof(short_vectors)},
		     {TOLD, told, sizeof(told)},
		     {LENGTH, peer_length, sizeof(peer_length)},
		     {0x8004, long_length, sizeof(long_length)},
		     {MANY, many, sizeof(many)}};

	(void)context;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
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
	{"more was copied than is kept", 1, 0x7f00, 0x102, 16, TL_READ, 0x8000, 2},
	{"the second vector", 19, VECTORS, 3, 200, TL_WRITE, BUFFER, 2},
	{"the second vector, in part", 19, VECTORS, 3, 17, TL_WRITE, BUFFER, 1},
	{"vectors that cannot be read", 20, 0x1, 3, 200, TL_READ, 0x8000, 8},
	{"recvmsg", 47, MESSAGE, 0, 18, TL_WRITE, BUFFER, 2},
	{"sendmsg", 46, MESSAGE, 0, 200, TL_READ, BUFFER, 2},
	{"the address of a message that is sent", 46, TOLD, 0, 16, TL_READ, 0x8000, 4},
	{"that of one that is received", 47, TOLD, 0, 16, TL_WRITE, 0x8000, 4},
	{"readlink", 89, BUFFER, 4, 2, TL_WRITE, BUFFER, 2},
	{"getdents64", 217, 0x7ff0, 64, 24, TL_WRITE, 0x8000, 8},
	{"preadv, the second vector", 295, VECTORS, 3, 18, TL_WRITE, BUFFER, 2},
	{"pwritev", 296, VECTORS, 3, 18, TL_READ, BUFFER, 2},
	{"preadv2", 327, VECTORS, 3, 17, TL_WRITE, BUFFER, 1},
	{"pwritev2", 328, VECTORS, 3, 18, TL_READ, BUFFER, 2},
	{"recvmmsg", 299, MESSAGES, 2, 2, TL_WRITE, BUFFER, 1},
	{"recvmmsg of all that there is room for, seen", 299, MESSAGES, 2, 1, TL_WRITE, BUFFER, 2},
	{"sendmmsg", 307, MESSAGES, 2, 2, TL_READ, BUFFER, 1},
	{"writev, of more vectors than are looked at", 20, MANY, 70, 2, TL_READ, 0x8000, 8},
	{"the vectors themselves", 19, 0x7ff8, 1, 200, TL_READ, 0x8000, 8},
	{"the header of a message that is sent", 46, 0x7ff0, 0, 200, TL_READ, 0x8000, 8},
	{"not its padding", 46, 0x7ff8, 0, 200, TL_READ, 0x8000, 4},
};

/* Of other arguments than the second and the third. */
static const struct {
	const char *name;
	int number;
	uint64_t argument[6];
	int64_t result;
	unsigned access; /* 0: it did not come there */
	uint64_t first, length;
} others[] = {
	{"readlinkat", 267, {3, 0x6000, BUFFER, 9}, 2, TL_WRITE, BUFFER, 2},
	{"getcwd", 79, {0x7fff, 9}, 3, TL_WRITE, 0x8000, 2},
	{"getrandom", 318, {0x8002, 4}, 4, TL_WRITE, 0x8002, 4},
	{"getrandom beside it", 318, {0x8008, 4}, 4, 0, 0, 0},
	{"an address beside the buffer", 44, {3, 0x6000, 2, 0, 0x8002, 4}, 2, TL_READ, 0x8002, 4},
	{"the address of who sent", 45, {3, 0x6000, 2, 0, 0x8002, LENGTH}, 2, TL_WRITE, 0x8002, 4},
	{"neither buffer nor address", 44, {3, 0x6000, 2, 0, 0x7000, 4}, 2, 0, 0, 0},
	{"vectors that lead elsewhere", 19, {3, VECTORS, 1}, 16, 0, 0, 0},
	{"fstat, its last bytes", 5, {3, 0x8005 - 144}, 0, TL_WRITE, 0x8000, 5},
	{"stat of a name there", 4, {0x8000, 0x6000}, 0, 0, 0, 0},
	{"getsockname", 51, {3, 0x7fff, LENGTH}, 0, TL_WRITE, 0x8000, 3},
	{"getsockname of a length that cannot be read", 51, {3, 0x7fff, 1}, 0, 0, 0, 0},
	{"its length", 51, {3, 0x6000, BUFFER}, 0, 0, 0, 0},
	{"bind", 49, {3, 0x8002, 3}, 0, TL_READ, 0x8002, 3},
	{"epoll_wait of two of four", 232, {3, 0x8006 - 24, 4, 0}, 2, TL_WRITE, 0x8000, 6},
	{"poll, which reads and writes", 7, {0x8000, 1, 0}, 1, 0, 0, 0},
	{"getsockname, cut off", 51, {3, 0x8001, 0x8004}, 0, TL_WRITE, 0x8001, 3},
	{"wait4 of a child", 61, {7, 0x8000, 0, 0}, 7, TL_WRITE, 0x8000, 4},
	{"wait4 of none", 61, {7, 0x8000, 1, 0}, 0, 0, 0, 0},
	{"waitid", 247, {0, 0, 0x8000 - 24}, 0, TL_WRITE, 0x8000, 4},
	{"waitid, of a child or of none", 247, {0, 0, 0, 0, 0x8000}, 0, 0, 0, 0},
	{"epoll_ctl", 233, {3, 1, 4, 0x8000}, 0, TL_READ, 0x8000, 8},
	{"epoll_ctl that takes away", 233, {3, 2, 4, 0x8000}, 0, 0, 0, 0},
	{"nanosleep to its end", 35, {0x6000, 0x8000}, 0, 0, 0, 0},
	{"nanosleep that a signal ends", 35, {0x6000, 0x8000}, -EINTR, TL_WRITE, 0x8000, 8},
	{"clock_nanosleep that a signal ends", 230, {0, 0, 0, 0x8000}, -EINTR, TL_WRITE, 0x8000, 8},
	{"clock_nanosleep until then", 230, {0, 1, 0, 0x8000}, -EINTR, 0, 0, 0},
	{"nanosleep, the same memory", 35, {0x8000, 0x8000}, 0, TL_READ, 0x8000, 8},
	{"read and written", 14, {0, 0x8000, 0x8000}, 0, 0, 0, 0},
	{"an array beyond all memory", 49, {3, 0x8002, UINT64_MAX}, 0, TL_READ, 0x8002, 6},
};

static int sent_to(const struct insn_registers *after, const struct insn_memory *memory)
{
	return system_call_sent_by(system_call_number(after, memory), after, memory);
}

static bool copied_so(int number, const struct insn_registers *after, unsigned wanted,
		      struct system_call_copy *copy)
{
	const struct insn_memory memory = {.read = read_memory};
	const struct insn_bytes watched = {0x8000, 8};

	code[1] = 0xb8;
	memcpy(code + 2, &number, sizeof(number));
	code[6] = 0x0f;
	code[7] = 0x05;
	return system_call_copied_by(system_call_number(after, &memory), after, &memory, &watched,
				     wanted, copy);
}

static bool copied(int number, const struct insn_registers *after, struct system_call_copy *copy)
{
	return copied_so(number, after, TL_READ | TL_WRITE, copy);
}

static void test_extents(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct insn_registers after = {.pc = CODE + sizeof(code)};
		struct system_call_copy copy;

		print_message("%s\n", cases[i].name);
		after.general[0] = (uint64_t)cases[i].result;
		after.general[1] = after.pc;
		after.general[2] = cases[i].count;
		after.general[6] = cases[i].buffer;
		assert_true(copied(cases[i].number, &after, &copy));
		assert_int_equal(copy.access, cases[i].access);
		assert_int_equal(copy.bytes.address, cases[i].first);
		assert_int_equal(copy.bytes.length, cases[i].length);
	}
}

static void test_arguments(void **state)
{
	/* rdi, rsi, rdx, r10, r8, r9 */
	static const uint8_t number[] = {7, 6, 2, 10, 8, 9};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct insn_registers after = {.pc = CODE + sizeof(code)};
		struct system_call_copy copy;

		print_message("%s\n", others[i].name);
		for (size_t j = 0; j < 6; j++)
			after.general[number[j]] = others[i].argument[j];
		after.general[0] = (uint64_t)others[i].result;
		after.general[1] = after.pc;
		assert_int_equal(copied(others[i].number, &after, &copy), others[i].access != 0);
		if (!others[i].access)
			continue;
		assert_int_equal(copy.access, others[i].access);
		assert_int_equal(copy.bytes.address, others[i].first);
		assert_int_equal(copy.bytes.length, others[i].length);
	}
}

/* Where the same memory is read and written, what is watched tells which. */
static void test_wanted(void **state)
{
	struct insn_registers after = {.pc = CODE + sizeof(code)};
	struct system_call_copy copy;

	(void)state;
	after.general[1] = after.pc;
	after.general[6] = 0x8000;
	after.general[2] = 0x8000;
	assert_true(copied_so(14, &after, TL_WRITE, &copy)); /* rt_sigprocmask */
	assert_int_equal(copy.access, TL_WRITE);
	assert_true(copied_so(14, &after, TL_READ, &copy));
	assert_int_equal(copy.access, TL_READ);
	after.general[2] = 0x6000;
	assert_false(copied_so(14, &after, TL_WRITE, &copy));
	after.general[7] = 0x8000;
	assert_false(copied_so(35, &after, TL_WRITE, &copy)); /* nanosleep */
}

static void test_both(void **state)
{
	const struct insn_memory memory = {.read = read_memory};
	const struct insn_bytes within = {0x8006, 100};
	struct insn_registers after = {.pc = CODE + sizeof(code)};
	struct system_call_copy copy;

	(void)state;
	after.general[0] = 0;
	after.general[1] = after.pc;
	after.general[7] = 0x8000;
	after.general[6] = 2;
	assert_true(system_call_copied_within(7, &after, &memory, &within, &copy)); /* poll */
	assert_int_equal(copy.access, TL_READ | TL_WRITE);
	assert_int_equal(copy.bytes.address, 0x8006);
	assert_int_equal(copy.bytes.length, 10);
	after.general[6] = 0;
	assert_false(system_call_copied_within(7, &after, &memory, &within, &copy));
	assert_false(system_call_copied_within(-ENODATA, &after, &memory, &within, &copy));
}

/* Whom a message went to, which the kernel had read before. */
static void test_sent(void **state)
{
	const struct insn_memory memory = {.read = read_memory};
	struct insn_registers after = {.pc = CODE + sizeof(code)};
	struct system_call_copy copy;

	(void)state;
	after.general[0] = 2;
	after.general[1] = after.pc;
	after.general[2] = 2;
	after.general[6] = BUFFER;
	after.general[7] = 9;
	assert_true(copied(1, &after, &copy));
	assert_int_equal(sent_to(&after, &memory), 9);
	after.general[0] = (uint64_t)-EAGAIN;
	assert_int_equal(sent_to(&after, &memory), -1);
	after.general[0] = 2;
	assert_true(copied(0, &after, &copy));
	assert_int_equal(sent_to(&after, &memory), -1);
}

/* The number stands elsewhere, where another register is loaded last. */
static void test_numbers(void **state)
{
	static const uint8_t loads[][6] = {
		{0x90, 0x90, 0x90, 0x90, 0x31, 0xc0}, /* xor %eax,%eax */
		{0x90, 0x90, 0x90, 0x45, 0x31, 0xc0}, /* xor %r8d,%r8d */
		{0x41, 0xb8, 0x01, 0x00, 0x00, 0x00}, /* mov $1,%r8d */
		{0x48, 0xb8, 0x01, 0x00, 0x00, 0x00}, /* … 0x48; mov $1,%eax */
		{0x90, 0xbf, 0x01, 0x00, 0x00, 0x00}, /* mov $1,%edi */
	};
	static const unsigned expected[] = {TL_WRITE, 0, 0, TL_READ, 0};
	const struct insn_memory memory = {.read = read_memory};
	const struct insn_bytes watched = {0x8000, 8};
	struct insn_registers after = {.pc = CODE + sizeof(code)};
	struct system_call_copy copy;

	(void)state;
	after.general[0] = 1;
	after.general[1] = after.pc;
	after.general[2] = 1;
	after.general[6] = BUFFER;
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		copy.access = 0;
		memcpy(code, loads[i], sizeof(loads[i]));
		assert_int_equal(system_call_copied_by(system_call_number(&after, &memory), &after,
						       &memory, &watched, TL_READ | TL_WRITE,
						       &copy),
				 expected[i] != 0);
		assert_int_equal(copy.access, expected[i]);
	}
}

static void what_describes_it_is_no_content(void **state)
{
	/* rdi, rsi, rdx, r10, r8, r9 */
	struct insn_registers after = {.pc = CODE + sizeof(code)};
	struct system_call_copy copy;

	(void)state;
	after.general[0] = 18;
	after.general[1] = after.pc;
	after.general[6] = VECTORS;
	after.general[2] = 3;
	assert_true(copied(20, &after, &copy)); /* writev */
	assert_true(copy.content);
	after.general[6] = 0x7ff8;
	assert_true(copied(20, &after, &copy)); /* of vectors that are watched */
	assert_false(copy.content);
	after.general[6] = TOLD;
	assert_true(copied(46, &after, &copy)); /* sendmsg, to an address that is watched */
	assert_false(copy.content);
	after.general[0] = (uint64_t)-EAGAIN;
	after.general[6] = BUFFER;
	after.general[2] = 2;
	assert_true(copied(1, &after, &copy)); /* it has passed on nothing */
	assert_false(copy.content);
}

static void test_others(void **state)
{
	struct insn_registers after = {.pc = CODE + sizeof(code)};
	struct system_call_copy copy;

	(void)state;
	assert_false(copied(0, &after, &copy)); /* rcx is not the return address */
	after.general[1] = after.pc;
	assert_false(copied(202, &after, &copy)); /* futex */
	after.general[2] = 1;
	after.general[6] = BUFFER;
	assert_true(copied(0, &after, &copy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extents), cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_both),	cmocka_unit_test(test_sent),
		cmocka_unit_test(test_numbers), cmocka_unit_test(what_describes_it_is_no_content),
		cmocka_unit_test(test_others),	cmocka_unit_test(test_wanted)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
