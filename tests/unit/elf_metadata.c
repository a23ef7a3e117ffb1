/* SPDX-License-Identifier: Apache-2.0 */
/* Both layouts of Clang's metadata sections, written out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>

#include "elf/image.h"
#include "elf/metadata.h"

static const struct symbol_image image = {
	.segment_count = 1,
	.segment = {{.address = 0x1000, .file_size = 0x1000, .memory_size = 0x1000, .flags = 5}}};

/* Atomic instructions at 0x1010 and 0x1234, from a section at 0x3000. */
static const uint8_t atomics[] = {0x10, 0xe0, 0xff, 0xff, 0x30, 0xe2, 0xff, 0xff};

static int parse(const void *covered, size_t length, struct symbol_metadata *metadata)
{
	struct symbol_section first = {atomics, sizeof(atomics), 0x3000};
	struct symbol_section second = {covered, length, 0x4000};

	return symbol_metadata_parse(&image, &first, &second, metadata);
}

static void check(const void *covered, size_t length)
{
	struct symbol_metadata metadata;

	assert_int_equal(parse(covered, length, &metadata), 0);
	assert_int_equal(metadata.atomic_count, 2);
	assert_int_equal(metadata.atomic[0], 0x1010);
	assert_int_equal(metadata.atomic[1], 0x1234);
	/* The second function has no atomics feature. */
	assert_int_equal(metadata.covered_count, 1);
	assert_int_equal(metadata.covered[0].low, 0x1000);
	assert_int_equal(metadata.covered[0].high, 0x1000 + 0x180);
	free(metadata.atomic);
	free(metadata.covered);
}

/* Functions at 0x1000 (384 bytes, atomics) and 0x1800 (16 bytes, use-after-return with a size). */
static void test_fixed(void **state)
{
	static const uint32_t words[] = {0x1000u - 0x4000, 0x180, 1, 0x1800u - 0x400c, 16, 6, 8};

	(void)state;
	check(words, sizeof(words));
}

static void test_compressed(void **state)
{
	/* -0x3000; 0x180 in ULEB128; 1. From 0x4007: 0x1800 - 0x4007; 16; 6; 8. */
	static const uint8_t bytes[] = {0x00, 0xd0, 0xff, 0xff, 0x80, 0x03, 0x01,
					0xf9, 0xd7, 0xff, 0xff, 0x10, 0x06, 0x08};

	(void)state;
	check(bytes, sizeof(bytes));
}

static void test_nonsense(void **state)
{
	static const uint8_t outside[] = {0x00, 0x00, 0x00, 0x00, 0x10, 0x01};
	static const uint8_t endless[] = {0x00, 0xd0, 0xff, 0xff, 0x80, 0x80};
	struct symbol_metadata metadata;

	(void)state;
	assert_int_equal(parse(outside, sizeof(outside), &metadata), -EINVAL);
	assert_int_equal(parse(endless, sizeof(endless), &metadata), -EINVAL);
	assert_null(metadata.covered);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
