/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a process's memory leaves pages empty whose next touch somebody waits for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "process/pagemap.h"
#include "process/space.h"
#include "reader/open.h"

#define PAGE 4096u
#define MANY 40000u /* mappings; the kernel allows 65,530 by default */

struct bench {
	struct symbol_session *session;
	struct space *space;
	uint8_t *pages; /* four, the second alone is filled */
};

static int set_up(void **state)
{
	static struct bench bench;

	bench.pages =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bench.pages == MAP_FAILED || madvise(bench.pages, 4 * PAGE, MADV_NOHUGEPAGE))
		return -1;
	bench.pages[PAGE] = 7;
	*state = &bench;
	return symbol_session_open(&bench.session, NULL) ||
	       space_open(&bench.space, bench.session, getpid());
}

static int tear_down(void **state)
{
	struct bench *bench = *state;

	space_close(bench->space);
	symbol_session_close(bench->session);
	return munmap(bench->pages, 4 * PAGE);
}

static bool is_filled(const struct bench *bench, size_t offset, size_t length)
{
	return pagemap_is_filled(getpid(), (uintptr_t)bench->pages + offset, length);
}

static void pages_are_empty_until_they_are_touched(void **state)
{
	const struct bench *bench = *state;

	assert_true(is_filled(bench, PAGE, PAGE));
	assert_true(is_filled(bench, 2 * PAGE - 1, 1));
	assert_false(is_filled(bench, 0, 1));
	assert_false(is_filled(bench, PAGE - 1, 2));
	assert_false(is_filled(bench, PAGE, PAGE + 1));
	assert_false(is_filled(bench, PAGE, 0));
	assert_false(pagemap_is_filled(getpid(), UINT64_MAX - 8, 64));
}

static void pages_that_are_present_are_told_apart(void **state)
{
	const struct bench *bench = *state;
	const uint64_t at = (uintptr_t)bench->pages;
	const int fd = pagemap_open(getpid());

	assert_true(fd >= 0);
	assert_int_equal(pagemap_present(fd, at, 4), 2);
	assert_int_equal(pagemap_present(fd, at + PAGE + 9, 3), 1);
	assert_int_equal(pagemap_present(fd, at, 1), 0);
	assert_int_equal(pagemap_present(-1, at, 4), 0);
	close(fd);
}

static void empty_pages_are_not_read(void **state)
{
	struct bench *bench = *state;
	uint64_t at = (uintptr_t)bench->pages;
	uint8_t bytes[16] = {0}, other[16];
	struct space_part parts[] = {{at + PAGE, bytes, 8}, {at, other, 8}, {at + PAGE, other, 8}};

	space_guard_pages(bench->space, at, 4 * PAGE);
	assert_int_equal(space_read(bench->space, at + PAGE, bytes, 16), 16);
	assert_int_equal(bytes[0], 7);
	assert_int_equal(space_read(bench->space, at, bytes, 8), -EFAULT);
	assert_int_equal(space_read(bench->space, at + 2 * PAGE - 8, bytes, 16), -EFAULT);
	assert_int_equal(space_gather(bench->space, parts, 3), 1);
	assert_false(is_filled(bench, 0, PAGE));
	assert_false(is_filled(bench, 2 * PAGE, PAGE));
}

/* Four pages: of a stack in memory of another use the page alone is known that the pointer is in
 * the middle of; of one above a page that nobody can read, as C libraries make them, all. */
static void a_stack_reaches_as_far_as_is_known(void **state)
{
	const struct bench *bench = *state;
	uint64_t pointer = (uintptr_t)bench->pages + 64, end = (uintptr_t)bench->pages + 4 * PAGE;
	char here;

	(void)state;
	space_renew(bench->space);
	assert_true(space_is_own_stack(bench->space, pointer, pointer - 8, 65536));
	assert_true(space_is_own_stack(bench->space, pointer, pointer + 512, 65536));
	assert_false(space_is_own_stack(bench->space, pointer, pointer - 512, 65536));
	assert_false(space_is_own_stack(bench->space, pointer, pointer + 2 * PAGE, 65536));
	assert_int_equal(mprotect(bench->pages, PAGE, PROT_NONE), 0);
	space_renew(bench->space);
	pointer += PAGE;
	assert_true(space_is_own_stack(bench->space, pointer, end - 8, 65536));
	assert_false(space_is_own_stack(bench->space, pointer, end - 8, PAGE));
	assert_false(space_is_own_stack(bench->space, pointer, end, 65536));
	assert_int_equal(mprotect(bench->pages, PAGE, PROT_READ | PROT_WRITE), 0);
	/* The first thread's. */
	pointer = (uintptr_t)&here;
	assert_true(space_is_own_stack(bench->space, pointer, pointer + PAGE + 8, 65536));
}

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

/* Reading a map of many lines for each address that nobody maps would take all of the time. */
static void large_maps_are_read_seldom(void **state)
{
	struct bench *bench = *state;
	char *many = mmap(NULL, MANY * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct timespec pause = {0, 200000};
	uint64_t begin, within = 0, longest = 0;

	assert_true(many != MAP_FAILED);
	for (unsigned i = 0; i < MANY; i += 2)
		assert_int_equal(mprotect(many + i * PAGE, PAGE, PROT_READ), 0);
	space_renew(bench->space);
	begin = now();
	while (now() - begin < 1000000000u) {
		uint64_t before = now(), took;

		space_learn(bench->space, PAGE);
		took = now() - before;
		within += took;
		longest = took > longest ? took : longest;
		nanosleep(&pause, NULL);
	}
	assert_true((within - longest) * 4 < now() - begin);
	munmap(many, MANY * PAGE);
	space_renew(bench->space);
}

/* What is loaded later is found all the same. */
static void small_maps_are_read_at_once(void **state)
{
	struct bench *bench = *state;
	const struct timespec pause = {0, 100000000};
	uint64_t start, end;
	bool found = false;
	char *page;

	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	/* Later where the readings before took long: the machine may be busy. */
	for (int look = 0; look < 50 && !found; look++) {
		nanosleep(&pause, NULL);
		space_learn(bench->space, (uintptr_t)page);
		found = space_mapping(bench->space, (uintptr_t)page, &start, &end);
	}
	assert_true(space_mapping(bench->space, (uintptr_t)page, &start, &end));
	assert_int_equal(start, (uintptr_t)page);
	munmap(page, PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_empty_until_they_are_touched),
		cmocka_unit_test(pages_that_are_present_are_told_apart),
		cmocka_unit_test(empty_pages_are_not_read),
		cmocka_unit_test(a_stack_reaches_as_far_as_is_known),
		cmocka_unit_test(large_maps_are_read_seldom),
		cmocka_unit_test(small_maps_are_read_at_once),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
