/* SPDX-License-Identifier: Apache-2.0 */
#include "report/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Length of the well-formed sequence at `at` (Unicode 15, table 3-7), 0 if there is none. */
static size_t sequence_length(const unsigned char *at)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length, i;

	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	length = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (at[1] < low || at[1] > high)
		return 0;
	for (i = 2; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

bool utf8_valid(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length;

	for (; *at; at += length) {
		length = sequence_length(at);
		if (!length)
			return false;
	}
	return true;
}

char *utf8_clean(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	char *clean = malloc(strlen(text) * 3 + 1);
	char *to = clean;
	size_t length;

	if (!clean)
		return NULL;
	while (*at) {
		length = sequence_length(at);
		if (length) {
			memcpy(to, at, length);
			to += length;
			at += length;
		} else {
			memcpy(to, "\xef\xbf\xbd", 3);
			to += 3;
			at++;
		}
	}
	*to = '\0';
	return clean;
}

/* C0, DEL and the C1 controls U+0080 to U+009F. */
static bool is_control(const unsigned char *at, size_t length)
{
	return at[0] < 0x20 || at[0] == 0x7f || (length == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

void utf8_print(FILE *stream, const char *text)
{
	const unsigned char *at = (const unsigned char *)(text ? text : "?");
	size_t length;

	for (; *at; at += length) {
		length = sequence_length(at);
		if (length && !is_control(at, length)) {
			fwrite(at, 1, length, stream);
			continue;
		}
		length = 1;
		fprintf(stream, "\\x%02x", *at);
	}
}
