/* SPDX-License-Identifier: Apache-2.0 */
/* Names that say that a function is an atomic operation, and names that only look so. */
#include "dwarf/atomic_names.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static const char *const operations[] = {"atomic_load",
					 "atomic_load_explicit",
					 "atomic_fetch_add",
					 "atomic_dec_and_test",
					 "atomic_cmpxchg_acquire",
					 "atomic_add_64_nv",
					 "atomic_store_ptr",
					 "atomic_inc",
					 "atomic_compare_exchange_strong_explicit",
					 "int std::atomic_load<int>(std::atomic<int> const*)",
					 "pg_atomic_read_u32",
					 "__atomic_load_8",
					 "std::atomic<int>::store(int, std::memory_order)",
					 "<core::sync::atomic::AtomicU32>::load"};
static const char *const others[] = {"atomic_write_config",
				     "atomic_",
				     "atomic_file_replace",
				     "atomic_set_options",
				     "atomically",
				     "myatomic_load",
				     "void atomic_rename(char const*)",
				     "load",
				     ""};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void test_operations(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(operations); i++)
		if (!symbol_atomic_function_name(operations[i]))
			fail_msg("%s is one", operations[i]);
}

static void test_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(others); i++)
		if (symbol_atomic_function_name(others[i]))
			fail_msg("%s is none", others[i]);
}

/* The pointers of std::shared_ptr are ordinary members, and Rust's vector loads are plain. */
static void test_files(void **state)
{
	(void)state;
	assert_true(symbol_atomic_file("/usr/include/c++/12/bits/atomic_base.h"));
	assert_true(symbol_atomic_file("/usr/include/c++/12/ext/atomicity.h"));
	assert_false(symbol_atomic_file("/usr/include/c++/12/bits/shared_ptr_base.h"));
	assert_false(symbol_atomic_file("/rust/library/stdarch/crates/core_arch/src/x86/sse2.rs"));
	assert_true(symbol_atomic_counting(
		"std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release()"));
	assert_false(symbol_atomic_counting(
		"std::__shared_count<(__gnu_cxx::_Lock_policy)2>::_M_swap()"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations),
					   cmocka_unit_test(test_others),
					   cmocka_unit_test(test_files)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
