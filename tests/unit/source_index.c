/* SPDX-License-Identifier: Apache-2.0 */
/* Which file below a directory is the one that a program was made of? */
#include "source/source_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "int shared;\n"
			   "\n"
			   "static void *a_reader(void *unused)\n"
			   "{\n"
			   "\treturn ~shared ? unused : reader2;\n"
			   "}\n"
			   "\n"
			   "\n"
			   "\n"
			   "Table::~Table() { operator+(1); }\n";

static void the_functions_name_must_stand_by_itself_about_its_line(void **state)
{
	static const struct {
		struct symbol_source_hint hint;
		bool fits;
	} table[] = {
		{{5, NULL, 0}, true},
		{{10, "a_reader", 3}, true},
		{{12, "a_reader", 3}, false}, /* the file is shorter */
		{{5, "a_reader", 6}, true},
		{{5, "a_reader", 7}, false},
		{{5, "a_reader", 0}, true},
		{{5, "reader", 3}, false},
		{{5, "a_read", 3}, false},
		{{5, "(anonymous namespace)::a_reader", 3}, true},
		{{5, "shared", 5}, true},
		{{5, "Table::~Table()", 10}, true},
		{{5, "operator+(int)", 10}, true},
		{{5, "able", 10}, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (symbol_source_fits(text, strlen(text), &table[i].hint) != table[i].fits)
			fail_msg("row %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_functions_name_must_stand_by_itself_about_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
