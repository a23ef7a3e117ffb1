/* SPDX-License-Identifier: Apache-2.0 */
/* Names as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mangling/demangle.h"

static void test_names(void **state)
{
	static const char *const names[][2] = {
		{"_ZN3foo3barEi", "foo::bar(int)"},
		{"_ZNSt13__atomic_baseIiE5storeEiSt12memory_order",
		 "std::__atomic_base<int>::store(int, std::memory_order)"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop"
		 "17h0123456789abcdefE",
		 "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"_RNvMs_NtNtCs1_4core4sync6atomicNtB4_9AtomicU324load",
		 "<core::sync::atomic::AtomicU32>::load"},
		{"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
		{"_RNCNvC4main3run0", "main::run::{closure#0}"},
		{"_RINvC1a1bRxAyj4_E", "a::b::<&i64, [u64; 0x4]>"},
	};
	char text[SYMBOL_DEMANGLED_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int result = symbol_demangle(names[i][0], text, sizeof(text));

		print_message("%s\n", text);
		assert_int_equal(result, 0);
		assert_string_equal(text, names[i][1]);
	}
}

static void test_others(void **state)
{
	static const char *const names[] = {"main", "", "_", "_Z", "_R", "_RNv", "_ZN3foo3bar"};
	char text[SYMBOL_DEMANGLED_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(symbol_demangle(names[i], text, sizeof(text)) < 0);
		assert_string_equal(text, names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
