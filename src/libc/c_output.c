/* SPDX-License-Identifier: Apache-2.0 */
#include "libc/c_output.h"

#include <string.h>

#define NO (-1)
#define FORMAT_MOST 1024 /* bytes of a format that are read */

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
	static const char *const prefixes[] = {"GI_", "IO_"};

	symbol += strspn(symbol, "_");
	for (unsigned i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(symbol, prefixes[i], 3) == 0)
			symbol += 3 + strspn(symbol + 3, "_");
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(symbol, functions[i].name) == 0)
			return &functions[i];
	return NULL;
}

/* ------------------------------------------------------------------------------------------- */
/* Formats (C11 7.21.6.1) */

struct format {
	char text[FORMAT_MOST];
	const char *at;
	struct c_output_taken *taken;
	int count;
};

static bool read_text(const struct symbol_memory *memory, uint64_t address, char *text)
{
	for (unsigned i = 0; i < FORMAT_MOST; i++)
		if (symbol_memory_read(memory, address + i, &text[i], 1))
			return false;
		else if (!text[i])
			return true;
	return false;
}

static bool take(struct format *format, enum c_output_kind kind, unsigned bits, int64_t most)
{
	if (format->count == C_OUTPUT_TAKEN)
		return false;
	format->taken[format->count++] = (struct c_output_taken){kind, bits, most};
	return true;
}

/* A width or a precision: the number, or that an argument says it. */
static bool read_number(struct format *format, int64_t *number)
{
	*number = 0;
	if (*format->at == '*') {
		format->at++;
		*number = C_OUTPUT_BEFORE;
		return take(format, C_OUTPUT_INTEGER, 32, C_OUTPUT_ANY);
	}
	for (; *format->at >= '0' && *format->at <= '9'; format->at++)
		if (*number <= INT32_MAX)
			*number = *number * 10 + (*format->at - '0');
	return true;
}

/* Bits of an integer; 0: a long double's. */
static unsigned read_length(struct format *format)
{
	unsigned bits = 32;

	for (; *format->at && strchr("hlqjztL", *format->at); format->at++)
		bits = *format->at == 'L' ? 0 : *format->at == 'h' ? bits / 2 : 64;
	return bits;
}

static bool read_conversion(struct format *format)
{
	int64_t width, most = C_OUTPUT_ANY;
	unsigned bits;
	char conversion;

	format->at += strspn(format->at, "-+ #0'I");
	if (!read_number(format, &width))
		return false;
	if (*format->at == '.') {
		format->at++;
		if (!read_number(format, &most))
			return false;
	}
	bits = read_length(format);
	conversion = *format->at;
	if (!conversion)
		return false;
	format->at++;
	if (strchr("%m", conversion))
		return true;
	if (strchr("diuoxX", conversion))
		return bits && take(format, C_OUTPUT_INTEGER, bits, C_OUTPUT_ANY);
	if (strchr("fFeEgGaA", conversion))
		return bits && take(format, C_OUTPUT_DOUBLE, 64, C_OUTPUT_ANY);
	if (conversion == 'p')
		return take(format, C_OUTPUT_INTEGER, 64, C_OUTPUT_ANY);
	if (conversion == 'c')
		return bits == 32 && take(format, C_OUTPUT_CHARACTER, 8, C_OUTPUT_ANY);
	return conversion == 's' && bits == 32 && take(format, C_OUTPUT_STRING, 64, most);
}

int c_output_format(const struct symbol_memory *memory, uint64_t address,
		    struct c_output_taken taken[C_OUTPUT_TAKEN])
{
	struct format format = {.taken = taken};

	if (!read_text(memory, address, format.text))
		return -1;
	for (format.at = format.text; (format.at = strchr(format.at, '%'));) {
		format.at++;
		if (!read_conversion(&format))
			return -1;
	}
	return format.count;
}
