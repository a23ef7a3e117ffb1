/* SPDX-License-Identifier: Apache-2.0 */
/* All the wrong bytes of a system call, of which a watch has seen the first; where a load was whose
 * address is left in no register. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/syscall.h>

#include "heap/place.h"
#include "heap/state.h"
#include "insn/insn.h"

#define BLOCK 0x1000u
#define LENGTH 24u
#define READ 64u /* bytes, from the block's first on */

/* The code behind which the thread stands: what it loads the number from is not told by it. */
static const uint8_t code[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x8b, 0x07, 0x0f, 0x05};
static const uint8_t telling[] = {0x90, 0x90, 0xb8, SYS_read, 0, 0, 0, 0x0f, 0x05};

static ssize_t read_code(struct tl_host *host, pid_t pid, uint64_t address, void *to, size_t length)
{
	(void)host;
	(void)pid;
	memcpy(to, (const void *)(uintptr_t)address, length);
	return (ssize_t)length;
}

static struct tl_access place_result(const uint8_t *after, bool call_known, int call,
				     int64_t result)
{
	static const struct tl_services services = {.read = read_code};
	const struct heap heap = {.services = &services};
	struct tl_guarded block = {.size = sizeof(block),
				   .address = BLOCK,
				   .length = LENGTH,
				   .front = BLOCK - 16,
				   .back = BLOCK + 32};
	struct tl_registers registers = {.pc = (uintptr_t)after};
	struct tl_access access = {.size = sizeof(access),
				   .address = BLOCK + LENGTH,
				   .length = 1,
				   .access = TL_WRITE | TL_KERNEL | TL_GUESSED,
				   .registers = &registers,
				   .call_known = call_known,
				   .call = call};

	registers.general[insn_arch.call_argument[1]] = BLOCK;
	registers.general[insn_arch.call_argument[2]] = READ;
	registers.general[insn_arch.call_result] = (uint64_t)result;
	registers.general[1] = registers.pc; /* rcx, as the kernel leaves it */
	registers.general[11] = registers.flags = 0x202;
	place_call(&heap, &block, &access);
	return access;
}

static struct tl_access place(const uint8_t *after, bool call_known, int call)
{
	return place_result(after, call_known, call, READ);
}

static void all_of_it_is_told_where_the_number_is(void **state)
{
	struct tl_access access = place(code + sizeof(code), true, SYS_read);

	(void)state;
	assert_int_equal(access.address, BLOCK + LENGTH);
	assert_int_equal(access.length, READ - LENGTH);
	assert_false(access.access & TL_GUESSED);
}

static void a_call_that_failed_is_a_guess(void **state)
{
	struct tl_access access = place_result(code + sizeof(code), true, SYS_read, -14);

	(void)state;
	/* Where it failed is not known. */
	assert_true(access.access & TL_GUESSED);
}

static void the_code_may_tell_it(void **state)
{
	(void)state;
	assert_int_equal(place(telling + sizeof(telling), false, 0).length, READ - LENGTH);
}

static void what_was_seen_stays_where_nothing_tells_it(void **state)
{
	(void)state;
	assert_int_equal(place(code + sizeof(code), false, 0).length, 1);
	assert_int_equal(place(code + sizeof(code), true, SYS_futex).length, 1);
}

/* mov (%rdi), %rdi: what it was loaded through is gone. */
static const uint8_t over_base[INSN_MAX_LENGTH] = {0x48, 0x8b, 0x3f, 0x90, 0x90, 0x90, 0x90, 0x90,
						   0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
static bool held;
static unsigned late;

static bool is_held(struct tl_host *host)
{
	(void)host;
	return held;
}

static void count_late(struct tl_host *host, const char *name, uint64_t number)
{
	(void)host;
	assert_string_equal(name, "heap-places-late");
	late += (unsigned)number;
}

/* How far in front of the watch's first byte a load of `value` is said to have been. */
static int64_t place_load(bool thread_held)
{
	static const uint64_t value = 0x1122334455667788;
	static const struct tl_services services = {
		.read = read_code, .held = is_held, .count = count_late};
	const struct heap heap = {.services = &services};
	uint8_t bytes[32] = {0};
	struct heap_watch watch = {.address = (uintptr_t)bytes + 8, .length = 8};
	struct tl_registers registers = {.general[7] = value};
	struct tl_access access = {.size = sizeof(access),
				   .address = watch.address,
				   .pc = (uintptr_t)over_base,
				   .length = sizeof(value),
				   .access = TL_READ | TL_GUESSED,
				   .registers = &registers};

	memcpy(bytes + 5, &value, sizeof(value));
	held = thread_held;
	place_access(&heap, &watch, &access);
	return (int64_t)(watch.address - access.address);
}

static void a_load_is_where_its_value_stands(void **state)
{
	(void)state;
	assert_int_equal(place_load(true), 3);
	assert_int_equal(late, 0);
}

static void what_a_thread_has_left_behind_tells_no_place(void **state)
{
	(void)state;
	assert_int_equal(place_load(false), 0);
	assert_int_equal(late, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_told_where_the_number_is),
		cmocka_unit_test(a_call_that_failed_is_a_guess),
		cmocka_unit_test(the_code_may_tell_it),
		cmocka_unit_test(what_was_seen_stays_where_nothing_tells_it),
		cmocka_unit_test(a_load_is_where_its_value_stands),
		cmocka_unit_test(what_a_thread_has_left_behind_tells_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
