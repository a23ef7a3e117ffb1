/* SPDX-License-Identifier: Apache-2.0 */
#include "libc/c_format.h"

#include <string.h>

#define TEXT_MOST 1024 /* bytes of a format that are read */

struct reader {
	char text[TEXT_MOST + 1];
	const char *at;
	struct c_format *format;
};

/* What does not end within what is read is cut off there. */
static bool read_text(const struct symbol_memory *memory, uint64_t address, char *text)
{
	unsigned length = 0;
	bool readable = true;

	while (length < TEXT_MOST &&
	       (readable = !symbol_memory_read(memory, address + length, &text[length], 1)) &&
	       text[length])
		length++;
	text[length] = '\0';
	return readable && length < TEXT_MOST;
}

static bool take(struct reader *reader, enum c_format_kind kind, unsigned bits, int64_t most)
{
	struct c_format *format = reader->format;

	if (format->count == C_FORMAT_TAKEN)
		return false;
	format->taken[format->count++] = (struct c_format_taken){kind, bits, most};
	return true;
}

/* A width or a precision: the number, or that an argument says it. */
static bool read_number(struct reader *reader, int64_t *number)
{
	*number = 0;
	if (*reader->at == '*') {
		reader->at++;
		*number = C_FORMAT_BEFORE;
		return take(reader, C_FORMAT_INTEGER, 32, C_FORMAT_ANY);
	}
	for (; *reader->at >= '0' && *reader->at <= '9'; reader->at++)
		if (*number <= INT32_MAX)
			*number = *number * 10 + (*reader->at - '0');
	return true;
}

/* Bits of an integer; 0: a long double's. */
static unsigned read_length(struct reader *reader)
{
	unsigned bits = 32;

	for (; *reader->at && strchr("hlqjztL", *reader->at); reader->at++)
		bits = *reader->at == 'L' ? 0 : *reader->at == 'h' ? bits / 2 : 64;
	return bits;
}

static bool take_conversion(struct reader *reader, char conversion, unsigned bits, int64_t most)
{
	if (strchr("%m", conversion))
		return true;
	if (conversion == 'p')
		return take(reader, C_FORMAT_INTEGER, 64, C_FORMAT_ANY);
	if (!bits)
		return false;
	if (strchr("diuoxX", conversion))
		return take(reader, C_FORMAT_INTEGER, bits, C_FORMAT_ANY);
	if (strchr("fFeEgGaA", conversion))
		return take(reader, C_FORMAT_DOUBLE, 64, C_FORMAT_ANY);
	if (strchr("cs", conversion) && bits == 64)
		return take(reader, C_FORMAT_WIDE, 64, C_FORMAT_ANY);
	if (conversion == 'c')
		return bits == 32 && take(reader, C_FORMAT_CHARACTER, 8, C_FORMAT_ANY);
	return conversion == 's' && bits == 32 && take(reader, C_FORMAT_STRING, 64, most);
}

/* What stands behind a percent sign. */
static bool read_conversion(struct reader *reader)
{
	int64_t width, most = C_FORMAT_ANY;
	unsigned bits;

	reader->at += strspn(reader->at, "-+ #0'I");
	if (!read_number(reader, &width))
		return false;
	if (*reader->at == '.') {
		reader->at++;
		if (!read_number(reader, &most))
			return false;
	}
	bits = read_length(reader);
	return *reader->at && take_conversion(reader, *reader->at++, bits, most);
}

void c_format_read(const struct symbol_memory *memory, uint64_t address, struct c_format *format)
{
	struct reader reader = {.format = format};
	bool ends = read_text(memory, address, reader.text);

	format->count = 0;
	format->whole = false;
	for (reader.at = reader.text; (reader.at = strchr(reader.at, '%'));) {
		reader.at++;
		if (!read_conversion(&reader))
			return;
	}
	format->whole = ends;
}
