/* SPDX-License-Identifier: Apache-2.0 */
/* Which byte of a text a conversion begins to read its value at. */
#include "flow/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(flow_scan_number("123"), 0);
	assert_int_equal(flow_scan_number(" \t-7"), 3);
	assert_int_equal(flow_scan_number("+1"), 1);
	assert_int_equal(flow_scan_number(""), 0);
	assert_int_equal(flow_scan_number("  "), 2);
}

static void test_conversions(void **state)
{
	static const struct {
		const char *format, *text;
		unsigned number;
		int at;
	} cases[] = {
		{"%llu %llu", "17 4", 0, 0},
		{"%llu %llu", "17 4", 1, 3},
		{"%d", "  -12", 0, 3},
		{"a=%d, b=%x", "a=5, b=0xff", 1, 7},
		{"%*d %d", "11 22", 0, 3},
		{"%3d%d", "12345", 1, 3},
		{"%s %d", "name 9", 1, 5},
		{"%s", "  name", 0, 2},
		{"%c%c", "xy", 1, 1},
		{"%lf %hhd", "1.5e3 7", 1, 6},
		{"%[a-z] %d", "abc 7", 1, 4},
		{"%3[^= ] = %d", "abcd = 7", 1, -1},
		{" %31[^= ] = %llu", " limit = 9", 1, 9},
		{"%*[^:]:%d", "a b:7", 0, 4},
		{"%[]x]%d", "x]7", 1, 2},
		{"%[^]]]%d", "ab]7", 1, 3},
		{"%[a-]%d", "-a7", 1, 2},
		/* Bytes above 127 are no negative ones. */
		{"%[a-\xff] %d", "b\xe9z 7", 1, 4},
		{"%[\x01-\x7f] %d", "ab\xe9 7", 1, -1},
		/* What is not known, or does not match. */
		{"%[a-z %d", "abc 7", 1, -1},
		{"%[", "abc", 0, -1},
		{"%[^", "abc", 0, -1},
		{"%[]", "abc", 0, -1},
		{"%[a-c]", " abc", 0, -1},
		{"%d %d", "12", 1, -1},
		{"x%d", "y5", 0, -1},
		{"%d", "z", 0, -1},
		{"%d", "", 0, -1},
		{"", "12", 0, -1},
		{"%", "12", 0, -1},
		{"%*", "12", 0, -1},
		{"%4294967297d", "12", 0, 0},
		{"%p", "0x1", 0, -1},
		{"%n%d", "12", 1, -1},
		{"%5c", "ab", 0, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(flow_scan_find(cases[i].format, cases[i].text, cases[i].number),
				 cases[i].at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_conversions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
