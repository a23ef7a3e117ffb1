/* SPDX-License-Identifier: Apache-2.0 */
/* Names are bound as the dynamic linker of this very process has bound them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "memory/binding.h"

static struct symbol_memory memory;

static uint64_t link_map(void)
{
	return symbol_link_map(&memory, getauxval(AT_PHDR), getauxval(AT_PHNUM));
}

static int set_up(void **state)
{
	(void)state;
	memory = symbol_memory_of_process(getpid());
	return 0;
}

static void test_functions(void **state)
{
	static const char *const names[] = {"malloc", "free", "getauxval",
					    "_cmocka_run_group_tests"};

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *wanted = dlsym(RTLD_DEFAULT, names[i]);
		struct symbol_binding binding;

		assert_int_equal(symbol_binding_of_name(&memory, link_map(), names[i], &binding),
				 wanted != NULL);
		if (wanted)
			assert_int_equal(binding.address, (uintptr_t)wanted);
	}
}

static void test_unknown(void **state)
{
	struct symbol_binding binding;

	(void)state;
	assert_false(symbol_binding_of_name(&memory, link_map(), "no_such_function", &binding));
	assert_false(symbol_binding_of_name(&memory, 0, "malloc", &binding));
	assert_false(symbol_binding_of_name(&memory, 8, "malloc", &binding));
}

static void test_no_headers(void **state)
{
	(void)state;
	assert_int_equal(symbol_link_map(&memory, 0, 10), 0);
	assert_int_equal(symbol_link_map(&memory, 4096, UINT64_MAX), 0);
	assert_int_equal(symbol_link_map(&memory, getauxval(AT_PHDR), 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_no_headers),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
