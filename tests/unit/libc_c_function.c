/* SPDX-License-Identifier: Apache-2.0 */
/* What calls of the C library's string functions read in the language's sense. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>
#include <cmocka.h>

#include "libc/c_function.h"

#define BASE 0x10ff0u /* of the texts' memory: a page ends in its midst */
#define SIZE 512
#define UNKNOWN_ARGUMENT UINT64_MAX

static uint8_t image[SIZE];

static int read_image(void *context, uint64_t address, void *to, size_t length)
{
	(void)context;
	if (address < BASE || address - BASE > SIZE || length > SIZE - (address - BASE))
		return -EFAULT;
	memcpy(to, image + (address - BASE), length);
	return 0;
}

struct row {
	const char *name;
	const char *text;	/* at BASE + 8 */
	const char *other;	/* at BASE + 256 */
	uint64_t argument[3];	/* below 1000 offsets from BASE, where they are pointers */
	uint64_t first, length; /* of the load, from BASE */
	enum c_extent extent;
	uint64_t begin, end; /* where it is within, from BASE */
};

#define TEXT (BASE + 8)
#define OTHER (BASE + 256)
#define NOT UNKNOWN_ARGUMENT
#define WITHIN C_EXTENT_WITHIN
#define OUTSIDE C_EXTENT_OUTSIDE
#define UNKNOWN C_EXTENT_UNKNOWN

static const struct row rows[] = {
	{"strlen", "four", "", {TEXT}, 8, 32, WITHIN, 8, 13},
	{"__strlen_avx2", "four", "", {TEXT}, 0, 32, WITHIN, 8, 13},
	{"__strlen_evex512", "four", "", {TEXT}, 0, 64, WITHIN, 8, 13},
	{"__GI_strlen", "four", "", {TEXT}, 16, 16, OUTSIDE, 0, 0},
	{"strlen", "four", "", {NOT}, 8, 32, UNKNOWN, 0, 0},
	{"strnlen", "four", "", {TEXT, 2}, 8, 16, WITHIN, 8, 10},
	{"strnlen", "four", "", {TEXT, UINT64_MAX - 1}, 8, 16, WITHIN, 8, 13},
	{"strnlen", "four", "", {TEXT, NOT}, 8, 16, UNKNOWN, 0, 0},
	{"strnlen", "four", "", {TEXT, NOT}, 16, 16, OUTSIDE, 0, 0},
	{"strchr", "a=b", "", {TEXT, '='}, 8, 16, WITHIN, 8, 10},
	{"strchr", "a=b", "", {TEXT, '?'}, 8, 16, WITHIN, 8, 12},
	{"strchr", "a=b", "", {TEXT, NOT}, 8, 16, UNKNOWN, 0, 0},
	{"__strchrnul_sse2", "a=b", "", {TEXT, 0x1200 + '='}, 8, 16, WITHIN, 8, 10},
	{"strrchr", "a=b", "", {TEXT, '='}, 8, 16, WITHIN, 8, 12},
	{"rawmemchr", "a=b", "", {TEXT, '='}, 8, 16, WITHIN, 8, 10},
	{"memchr", "a=b", "", {TEXT, '?', 9}, 8, 16, WITHIN, 8, 17},
	{"memchr", "a=b", "", {TEXT, '=', 9}, 8, 16, WITHIN, 8, 10},
	{"memrchr", "a=b=c", "", {TEXT, '=', 5}, 0, 16, WITHIN, 11, 13},
	{"memrchr", "a=b=c", "", {TEXT, '?', 5}, 0, 16, WITHIN, 8, 13},
	{"memrchr", "a=b=c", "", {TEXT, '=', 5}, 0, 11, OUTSIDE, 0, 0},
	{"memrchr", "a=b=c", "", {TEXT, '=', NOT}, 0, 16, UNKNOWN, 0, 0},
	{"memrchr", "a=b=c", "", {TEXT, '=', NOT}, 0, 8, OUTSIDE, 0, 0},
	{"memrchr", "a=b=c", "", {TEXT, '=', UINT64_MAX - 1}, 0, 16, UNKNOWN, 0, 0},
	{"memcmp", "same", "samt", {TEXT, OTHER, 3}, 8, 16, WITHIN, 8, 11},
	{"memcmp", "same", "samt", {TEXT, OTHER, 100000}, 90000, 16, WITHIN, 90000, 90016},
	{"memcmp", "same", "samt", {TEXT, OTHER, 100000}, 100000, 32, WITHIN, 100000, 100008},
	{"memcmp", "same", "samt", {TEXT, NOT, 100000}, 100008, 32, UNKNOWN, 0, 0},
	{"__memcmpeq_evex", "same", "samt", {TEXT, OTHER, 3}, 256, 16, WITHIN, 256, 259},
	{"strcmp", "same", "same", {TEXT, OTHER}, 8, 16, WITHIN, 8, 13},
	{"strcmp", "same", "sake", {TEXT, OTHER}, 8, 16, WITHIN, 8, 11},
	{"strcmp", "same", "sake", {TEXT, OTHER}, 256, 16, WITHIN, 256, 259},
	{"strcmp", "same", "sake", {TEXT, NOT}, 8, 16, UNKNOWN, 0, 0},
	{"strncmp", "same", "same", {TEXT, OTHER, 2}, 8, 16, WITHIN, 8, 10},
	{"__strcasecmp_l_avx2", "Same", "sAMe", {TEXT, OTHER}, 8, 16, WITHIN, 8, 13},
	{"strcasecmp", "Same", "sAke", {TEXT, OTHER}, 8, 16, WITHIN, 8, 11},
	{"strcasecmp",
	 "a\xc4"
	 "b",
	 "a\xe4"
	 "b",
	 {TEXT, OTHER},
	 8,
	 16,
	 UNKNOWN,
	 0,
	 0},
	{"__strncasecmp_l_sse42", "Same", "same", {TEXT, OTHER, 2}, 8, 16, WITHIN, 8, 10},
	{"strspn", "aabc", "ab", {TEXT, OTHER}, 8, 16, WITHIN, 8, 12},
	{"strcspn", "aabc", "cd", {TEXT, OTHER}, 8, 16, WITHIN, 8, 12},
	{"strpbrk", "aabc", "xy", {TEXT, OTHER}, 8, 16, WITHIN, 8, 13},
	{"strpbrk", "aabc", "xy", {TEXT, OTHER}, 256, 16, WITHIN, 256, 259},
	{"__strstr_avx512", "a needle is", "needle", {TEXT, OTHER}, 8, 32, WITHIN, 8, 16},
	{"strstr", "a needle", "nettle", {TEXT, OTHER}, 8, 32, WITHIN, 8, 17},
	{"strcasestr", "a NEEDLE is", "needle", {TEXT, OTHER}, 8, 32, WITHIN, 8, 16},
	{"strcpy", "text", "", {OTHER, TEXT}, 8, 16, WITHIN, 8, 13},
	{"__strncpy_sse2_unaligned", "text", "", {OTHER, TEXT, 2}, 8, 16, WITHIN, 8, 10},
	{"strcat", "to", "from", {TEXT, OTHER}, 8, 16, WITHIN, 8, 11},
	{"strcat", "to", "from", {TEXT, OTHER}, 256, 16, WITHIN, 256, 261},
	{"strncat", "to", "from", {TEXT, OTHER, 1}, 256, 16, WITHIN, 256, 257},
};

static const char *const others[] = {"memcpy",
				     "__memmove_avx_unaligned",
				     "strlens",
				     "qsort",
				     "strtok_r",
				     "strerror",
				     "_IO_vfprintf",
				     "strstr.cold",
				     ""};

static struct c_call call_of(const struct row *row, const struct symbol_memory *memory)
{
	struct c_call call = {.function = c_function_find(row->name), .memory = memory};

	for (unsigned i = 0; i < 3; i++) {
		call.argument[i] = row->argument[i];
		call.known |= (unsigned)(row->argument[i] != UNKNOWN_ARGUMENT) << i;
	}
	return call;
}

static void the_table_holds(void **state)
{
	const struct symbol_memory memory = {read_image, NULL};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct c_call call = call_of(row, &memory);
		uint64_t first = BASE + row->first, length = row->length;
		enum c_extent extent;

		memset(image, '#', sizeof(image));
		memcpy(image + 8, row->text, strlen(row->text) + 1);
		memcpy(image + 256, row->other, strlen(row->other) + 1);
		assert_non_null(call.function);
		extent = c_extent(&call, &first, &length);
		if (extent != row->extent ||
		    (extent == WITHIN &&
		     (first != BASE + row->begin || first + length != BASE + row->end)))
			fail_msg("row %zu, %s: %d, %d to %d", i, row->name, (int)extent,
				 (int)(first - BASE), (int)(first + length - BASE));
	}
}

static void wide_strings_count_in_elements(void **state)
{
	const struct symbol_memory memory = {read_image, NULL};
	struct c_call call = {.function = c_function_find("__wcsnlen_sse4_1"),
			      .argument = {TEXT, 3},
			      .known = 3,
			      .memory = &memory};
	uint64_t first = BASE, length = 64;

	(void)state;
	memset(image, '#', sizeof(image));
	memcpy(image + 8, L"wide", 5 * sizeof(wchar_t));
	assert_int_equal(c_extent(&call, &first, &length), WITHIN);
	assert_int_equal(first, TEXT);
	assert_int_equal(length, 3 * sizeof(wchar_t));
}

static void others_are_not_taken_for_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_null(c_function_find(others[i]));
}

static const char *const linked[] = {
	"strlen",
	"__strlen_avx2_rtm",
	"__memcmp_sse4_1",
	"__strcasecmp_l_sse42",
	"__wcsnlen_generic",
	"__strcmp_evex512",
	"strchr.part.0",
	"__memcmp_avx2_movbe",
};

static const char *const programs_own[] = {
	"index",       "index_of",     "rindex",
	"strlen_utf8", "strchr_last",  "memcmp_constant_time",
	"wcslen_",     "strcpy_evexx", "__strlen_chk",
};

/* Of a program into which the library is linked. */
static void a_programs_own_are_not_taken_for_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(linked) / sizeof(linked[0]); i++)
		assert_ptr_equal(c_function_linked(linked[i]), c_function_find(linked[i]));
	for (size_t i = 0; i < sizeof(programs_own) / sizeof(programs_own[0]); i++)
		assert_null(c_function_linked(programs_own[i]));
	assert_non_null(c_function_linked("memchr"));
}

static void what_copies_is_known(void **state)
{
	(void)state;
	assert_true(c_function_copies("__memmove_avx_unaligned_erms", true));
	assert_true(c_function_copies("memcpy", true));
	assert_true(c_function_copies("__memcpy_chk", false));
	assert_false(c_function_copies("memcpy_from_user", true));
	assert_false(c_function_copies("__memcpy_ssse3", false));
	assert_false(c_function_copies("memccpy", false));
}

/* Memory that cannot be read decides nothing. */
static void what_cannot_be_read_is_not_known(void **state)
{
	const struct symbol_memory memory = {read_image, NULL};
	struct c_call call = {.function = c_function_find("strlen"),
			      .argument = {BASE + SIZE + 4096},
			      .known = 1,
			      .memory = &memory};
	uint64_t first = BASE + SIZE + 4096, length = 32;

	(void)state;
	assert_int_equal(c_extent(&call, &first, &length), UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_holds),
		cmocka_unit_test(wide_strings_count_in_elements),
		cmocka_unit_test(others_are_not_taken_for_them),
		cmocka_unit_test(a_programs_own_are_not_taken_for_them),
		cmocka_unit_test(what_copies_is_known),
		cmocka_unit_test(what_cannot_be_read_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
