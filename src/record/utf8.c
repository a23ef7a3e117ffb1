/* SPDX-License-Identifier: Apache-2.0 */
#include "record/utf8.h"

#include <stdarg.h>
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

/* U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069: Unicode Standard Annex 9, and the
 * separators of lines and paragraphs. */
static bool is_direction(const unsigned char *at, size_t length)
{
	if (length == 2)
		return at[0] == 0xd8 && at[1] == 0x9c;
	if (length != 3 || at[0] != 0xe2)
		return false;
	if (at[1] == 0x80)
		return at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae);
	return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9;
}

/* C0, DEL and the C1 controls U+0080 to U+009F. */
static bool is_control(const unsigned char *at, size_t length)
{
	return at[0] < 0x20 || at[0] == 0x7f || (length == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

size_t utf8_showable(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = sequence_length(at);

	return is_control(at, length) || is_direction(at, length) ? 0 : length;
}

#define ESCAPED 4 /* "\xNN" */

/* The next piece of the output; advances *text. */
static size_t next_piece(const char **text, char piece[ESCAPED + 1])
{
	size_t length = utf8_showable(*text);

	if (length)
		memcpy(piece, *text, length);
	else
		snprintf(piece, ESCAPED + 1, "\\x%02x", (unsigned char)**text);
	*text += length ? length : 1;
	return length ? length : ESCAPED;
}

/* Written by the chunk: standard error has no buffer of its own, and what another process writes
 * there would come in between. */
#define CHUNK 1024

static void print_line(FILE *stream, const char *text, bool newline)
{
	char chunk[CHUNK];
	size_t used = 0;

	while (*text) {
		if (used + ESCAPED + 1 > sizeof(chunk)) {
			fwrite(chunk, 1, used, stream);
			used = 0;
		}
		used += next_piece(&text, chunk + used);
	}
	if (newline)
		chunk[used++] = '\n'; /* the room of the terminating zero of a \xNN */
	fwrite(chunk, 1, used, stream);
}

void utf8_print(FILE *stream, const char *text)
{
	print_line(stream, text ? text : "?", false);
}

void utf8_fprintf(FILE *stream, const char *format, ...)
{
	bool newline = format[0] && format[strlen(format) - 1] == '\n';
	char cut[UTF8_SENTENCE_MAX];
	char *text = NULL, *shown;
	va_list list, again;

	va_start(list, format);
	va_copy(again, list);
	shown = vasprintf(&text, format, list) < 0 ? NULL : text;
	if (!shown)
		vsnprintf(shown = cut, sizeof(cut), format, again);
	va_end(again);
	va_end(list);
	if (newline && shown[0] && shown[strlen(shown) - 1] == '\n')
		shown[strlen(shown) - 1] = '\0';
	print_line(stream, shown, newline);
	if (shown == text)
		free(text);
}

char *utf8_escape(char *to, size_t size, const char *text)
{
	char piece[ESCAPED + 1];
	size_t used = 0;

	if (!text)
		text = "?";
	while (*text) {
		size_t length = next_piece(&text, piece);

		if (length >= size - used)
			break;
		memcpy(to + used, piece, length);
		used += length;
	}
	to[used] = '\0';
	return to;
}
