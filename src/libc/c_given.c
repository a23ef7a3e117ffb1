/* SPDX-License-Identifier: Apache-2.0 */
#include "libc/c_given.h"

#include "libc/c_format.h"
#include "libc/c_name.h"

#include <stddef.h>

#define FIRST 1u
#define SECOND 2u

static const struct given {
	const char *name;
	unsigned strings; /* bit per argument */
	int format;	  /* the number of that argument, -1: it has none */
} givens[] = {
	{"puts", FIRST, -1},
	{"fputs", FIRST, -1},
	{"fputs_unlocked", FIRST, -1},
	{"strlen", FIRST, -1},
	{"strdup", FIRST, -1},
	{"strcpy", SECOND, -1},
	{"stpcpy", SECOND, -1},
	{"strcat", FIRST | SECOND, -1},
	{"strcmp", FIRST | SECOND, -1},
	{"strcasecmp", FIRST | SECOND, -1},
	{"strchr", FIRST, -1},
	{"strrchr", FIRST, -1},
	{"strstr", SECOND, -1},
	{"atoi", FIRST, -1},
	{"atol", FIRST, -1},
	{"atof", FIRST, -1},
	{"strtol", FIRST, -1},
	{"strtoul", FIRST, -1},
	{"strtod", FIRST, -1},
	{"printf", FIRST, 0},
	{"fprintf", SECOND, 1},
	{"dprintf", SECOND, 1},
	{"sprintf", SECOND, 1},
	{"asprintf", SECOND, 1},
	{"snprintf", 4u, 2},
	{"printf_chk", 2u, 1},
	{"fprintf_chk", 4u, 2},
	{"dprintf_chk", 4u, 2},
	{"sprintf_chk", 8u, 3},
	{"asprintf_chk", 4u, 2},
	{"snprintf_chk", 16u, 4},
};

static const struct given *find(const char *symbol)
{
	symbol = c_plain_name(symbol);
	for (size_t i = 0; i < sizeof(givens) / sizeof(givens[0]); i++)
		if (strcmp(symbol, givens[i].name) == 0)
			return &givens[i];
	return NULL;
}

/* Of a string with a precision perhaps no byte is read. Behind one that an argument bounds, and
 * what is not known of the format, nothing is told. */
static unsigned strings_of(const struct c_format *format, int next)
{
	unsigned strings = 0;

	for (int i = 0; i < format->count && next < C_GIVEN; i++) {
		const struct c_format_taken *taken = &format->taken[i];

		if (taken->most == C_FORMAT_BEFORE)
			break;
		if (taken->kind == C_FORMAT_STRING && taken->most == C_FORMAT_ANY)
			strings |= 1u << next;
		next += taken->kind != C_FORMAT_DOUBLE;
	}
	return strings;
}

unsigned c_given_strings(const char *symbol, const uint64_t argument[C_GIVEN], unsigned known,
			 const struct symbol_memory *memory)
{
	const struct given *given = find(symbol);
	struct c_format format;

	if (!given)
		return 0;
	if (given->format < 0 || !(known >> given->format & 1))
		return given->strings;
	c_format_read(memory, argument[given->format], &format);
	return given->strings | strings_of(&format, given->format + 1);
}
