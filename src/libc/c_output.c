/* SPDX-License-Identifier: Apache-2.0 */
#include "libc/c_output.h"

#include "libc/c_name.h"

#define NO (-1)

/* Those that C's headers make of them with _FORTIFY_SOURCE have numbers before the format. */
static const struct c_output functions[] = {
	{"printf", NO, NO, NO, 0, NO, NO},     {"fprintf", 0, NO, NO, 1, NO, NO},
	{"snprintf", NO, 0, 1, 2, NO, NO},     {"printf_chk", NO, NO, NO, 1, NO, NO},
	{"fprintf_chk", 0, NO, NO, 2, NO, NO}, {"snprintf_chk", NO, 0, 1, 4, NO, NO},
	{"puts", NO, NO, NO, NO, 0, NO},       {"fputs", 1, NO, NO, NO, 0, NO},
	{"putchar", NO, NO, NO, NO, NO, 0},    {"fputc", 1, NO, NO, NO, NO, 0},
	{"putc", 1, NO, NO, NO, NO, 0},
};

const struct c_output *c_output_find(const char *symbol)
{
	symbol = c_plain_name(symbol);
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(symbol, functions[i].name) == 0)
			return &functions[i];
	return NULL;
}
