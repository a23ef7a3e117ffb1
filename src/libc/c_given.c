/* SPDX-License-Identifier: Apache-2.0 */
#include "libc/c_given.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define FORMAT_MOST 256 /* bytes of it that are read */

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

/* Without what glibc puts before its own names for its functions. */
static const char *plain(const char *symbol)
{
	if (strncmp(symbol, "_IO_", 4) == 0)
		return symbol + 4;
	if (strncmp(symbol, "__GI_", 5) == 0)
		symbol += 5;
	return symbol + strspn(symbol, "_");
}

static const struct given *find(const char *symbol)
{
	symbol = plain(symbol);
	for (size_t i = 0; i < sizeof(givens) / sizeof(givens[0]); i++)
		if (strcmp(symbol, givens[i].name) == 0)
			return &givens[i];
	return NULL;
}

/* A format that does not end within what is read is told of as far as that goes. */
static size_t read_format(const struct symbol_memory *memory, uint64_t address,
			  char format[FORMAT_MOST + 1])
{
	size_t length = 0;

	while (length < FORMAT_MOST &&
	       !symbol_memory_read(memory, address + length, &format[length], 1) && format[length])
		length++;
	format[length] = '\0';
	return length;
}

/*
 * One conversion, from behind its percent sign on: moves `*at` behind it and counts its arguments
 * in `*next`. True: it reads the string that argument `*next` - 1 is. `*at` NULL: what it is is not
 * known (%n$, a letter of a program's own), and so is nothing behind it.
 */
static bool conversion(const char **at, int *next)
{
	bool wide, none;

	*at += strspn(*at, "-+ #0'I");
	if (**at == '*') {
		++*next;
		++*at;
	} else {
		*at += strspn(*at, "0123456789");
	}
	none = **at == '.'; /* perhaps of no bytes */
	if (none)
		*at += 1 + strspn(*at + 1, "0123456789");
	if (**at == '*' || **at == '$') {
		*at = NULL;
		return false;
	}
	wide = **at == 'l';
	*at += strspn(*at, "hljzt");
	if (!**at || !strchr("diouxXcsp%eEfFgGaA", **at)) {
		*at = NULL;
		return false;
	}
	if (strchr("eEfFgGaA%", *(*at)++)) /* not in a general register, or nowhere */
		return false;
	++*next;
	return (*at)[-1] == 's' && !wide && !none;
}

static unsigned strings_of(const char *format, int next)
{
	unsigned strings = 0;

	while (format && (format = strchr(format, '%'))) {
		format++;
		if (conversion(&format, &next) && next <= C_GIVEN)
			strings |= 1u << (next - 1);
	}
	return strings;
}

unsigned c_given_strings(const char *symbol, const uint64_t argument[C_GIVEN], unsigned known,
			 const struct symbol_memory *memory)
{
	const struct given *given = find(symbol);
	char format[FORMAT_MOST + 1];

	if (!given)
		return 0;
	if (given->format < 0 || !(known >> given->format & 1) ||
	    !read_format(memory, argument[given->format], format))
		return given->strings;
	return given->strings | strings_of(format, given->format + 1);
}
