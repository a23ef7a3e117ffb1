/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of restartable sequences, in a file that is loaded anywhere and in one that is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <elf.h>

#include "elf/image.h"
#include "elf/sequences.h"

#define SECTION 0x4000u

static const struct symbol_image image = {
	.segment_count = 1,
	.segment = {{.address = 0x1000, .file_size = 0x1000, .memory_size = 0x1000, .flags = 5}}};

struct descriptor {
	uint32_t version, flags;
	uint64_t start, length, abort;
};

static void parse(const struct descriptor *descriptor, size_t count, const Elf64_Rela *relocation,
		  size_t relocations, struct symbol_sequences *sequences)
{
	struct symbol_section first = {(const uint8_t *)descriptor, count * sizeof(*descriptor),
				       SECTION};
	struct symbol_section second = {(const uint8_t *)relocation,
					relocations * sizeof(*relocation), 0x800};

	assert_int_equal(symbol_sequences_parse(&image, &first, &second, sequences), 0);
}

/* Two, the later one first and twice, and a piece of a third that the section's end cuts off. */
static void test_fixed(void **state)
{
	static const struct descriptor all[] = {{0, 0, 0x1200, 0x20, 0x1300},
						{0, 0, 0x1100, 0x10, 0x1080},
						{0, 0, 0x1200, 0x20, 0x1300},
						{0, 0, 0x1400, 0x10, 0x1500}};
	struct symbol_section section = {(const uint8_t *)all, sizeof(all) - 8, SECTION};
	struct symbol_section none = {0};
	struct symbol_sequences found;

	(void)state;
	assert_int_equal(symbol_sequences_parse(&image, &section, &none, &found), 0);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.range[0].low, 0x1100);
	assert_int_equal(found.range[0].high, 0x1110);
	assert_int_equal(found.range[1].low, 0x1200);
	assert_int_equal(found.range[1].high, 0x1220);
	free(found.range);
}

static void test_relocated(void **state)
{
	static const struct descriptor empty[] = {{0, 0, 0, 0x20, 0}};
	static const Elf64_Rela relocations[] = {
		{SECTION - 8, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x1800},
		{SECTION + 8, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x1200},
		{SECTION + 24, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x1300},
		{SECTION + 16, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x7000},
		{SECTION + 8, ELF64_R_INFO(3, R_X86_64_64), 0x1900},
		{SECTION + 40, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x1900}};
	struct symbol_sequences found;

	(void)state;
	parse(empty, 1, relocations, sizeof(relocations) / sizeof(relocations[0]), &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.range[0].low, 0x1200);
	assert_int_equal(found.range[0].high, 0x1220);
	free(found.range);
}

/* Of an unknown version, of no length, beyond the code, around the end of numbers, or led back into
 * itself. */
static void test_nonsense(void **state)
{
	static const struct descriptor all[] = {
		{1, 0, 0x1200, 0x20, 0x1300}, {0, 0, 0x1200, 0, 0x1300},
		{0, 0, 0x1ff0, 0x20, 0x1300}, {0, 0, 0x1200, ~0ull, 0x1300},
		{0, 0, 0x3200, 0x20, 0x1300}, {0, 0, 0x1200, 0x20, 0x1210}};
	struct symbol_sequences found;

	(void)state;
	parse(all, sizeof(all) / sizeof(all[0]), NULL, 0, &found);
	assert_int_equal(found.count, 0);
	free(found.range);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_relocated),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
