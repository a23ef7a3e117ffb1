/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/scan.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_MOST 10000 /* of a conversion: a text that is looked at is shorter */

struct conversion {
	bool suppressed;
	unsigned width; /* UINT_MAX: none */
	char kind;
	const char *set; /* of kind '[': what stands between the brackets, and how long that is */
	size_t set_length;
};

static bool is_blank(char c)
{
	return c && strchr(" \t\n\v\f\r", c);
}

static unsigned blanks(const char *text)
{
	unsigned count = 0;

	while (is_blank(text[count]))
		count++;
	return count;
}

unsigned flow_scan_number(const char *text)
{
	unsigned at = blanks(text);

	return at + (text[at] == '+' || text[at] == '-');
}

/* Behind the '[' of a set. A ']' that comes first is one of it. False: it has no end. */
static bool read_set(const char **format, struct conversion *conversion)
{
	const char *first = *format + (**format == '^');
	const char *end = *first ? strchr(first + 1, ']') : NULL;

	if (!end)
		return false;
	conversion->set = *format;
	conversion->set_length = (size_t)(end - *format);
	*format = end + 1;
	return true;
}

static bool is_between(char c, char first, char last)
{
	return (unsigned char)c >= (unsigned char)first && (unsigned char)c <= (unsigned char)last;
}

static bool is_in_set(const struct conversion *conversion, char c)
{
	const char *set = conversion->set;
	size_t length = conversion->set_length, i = set[0] == '^';
	bool in = false;

	for (; i < length; i++) {
		bool range = i + 2 < length && set[i + 1] == '-';

		in |= range ? is_between(c, set[i], set[i + 2]) : c == set[i];
		i += range ? 2 : 0;
	}
	return in != (set[0] == '^');
}

/* What stands behind the '%' at `format`; moves it behind. */
static struct conversion read_conversion(const char **format)
{
	struct conversion conversion = {.width = UINT_MAX};
	const char *at = *format;

	if (*at == '*') {
		conversion.suppressed = true;
		at++;
	}
	if (*at >= '1' && *at <= '9') {
		conversion.width = 0;
		for (; *at >= '0' && *at <= '9'; at++)
			if (conversion.width < WIDTH_MOST)
				conversion.width = 10 * conversion.width + (unsigned)(*at - '0');
	}
	while (*at && strchr("hlLqjzt", *at))
		at++;
	conversion.kind = *at;
	*format = at + (*at != '\0');
	if (conversion.kind == '[' && !read_set(format, &conversion))
		conversion.kind = '\0';
	return conversion;
}

static const char *characters(char kind)
{
	return kind == 'd' || kind == 'u'		   ? "0123456789"
	       : kind == 'o'				   ? "01234567"
	       : kind == 'x' || kind == 'X' || kind == 'i' ? "0123456789abcdefABCDEFxX"
	       : strchr("eEfFgG", kind)			   ? "0123456789.eE+-"
							   : NULL;
}

/* How many characters of `text` the conversion takes; 0: none, or not known. */
static unsigned taken(const struct conversion *conversion, const char *text)
{
	unsigned count = 0, sign;

	if (conversion->kind == 'c') {
		count = conversion->width == UINT_MAX ? 1 : conversion->width;
		return strnlen(text, count) == count ? count : 0;
	}
	if (conversion->kind == 's') {
		while (count < conversion->width && text[count] && !is_blank(text[count]))
			count++;
		return count;
	}
	if (conversion->kind == '[') {
		while (count < conversion->width && text[count] &&
		       is_in_set(conversion, text[count]))
			count++;
		return count;
	}
	if (!conversion->kind || !characters(conversion->kind))
		return 0;
	sign = text[0] == '+' || text[0] == '-';
	for (count = sign; count < conversion->width && text[count] &&
			   strchr(characters(conversion->kind), text[count]);
	     count++)
		;
	return count > sign ? count : 0;
}

int flow_scan_find(const char *format, const char *text, unsigned number)
{
	unsigned at = 0;

	while (*format) {
		struct conversion conversion;
		unsigned length;

		if (is_blank(*format)) {
			at += blanks(text + at);
			format++;
			continue;
		}
		if (*format != '%') {
			if (text[at++] != *format++)
				return -1;
			continue;
		}
		format++;
		conversion = read_conversion(&format);
		if (!strchr("c[", conversion.kind))
			at += blanks(text + at);
		length = taken(&conversion, text + at);
		if (!length)
			return -1;
		if (!conversion.suppressed && number-- == 0)
			return (int)(strchr("sc[", conversion.kind)
					     ? at
					     : at + flow_scan_number(text + at));
		at += length;
	}
	return -1;
}
