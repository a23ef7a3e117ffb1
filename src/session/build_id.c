/* SPDX-License-Identifier: Apache-2.0 */
#include "session/build_id.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

bool symbol_build_id_equal(const struct symbol_build_id *a, const struct symbol_build_id *b)
{
	return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

void symbol_build_id_format(const struct symbol_build_id *id, char text[SYMBOL_BUILD_ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < id->length && i < SYMBOL_BUILD_ID_MAX; i++) {
		text[2 * i] = digits[id->bytes[i] >> 4];
		text[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	text[2 * i] = 0;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int symbol_build_id_parse(const char *text, struct symbol_build_id *id)
{
	size_t length = strlen(text);

	id->length = 0;
	if (length % 2 || length / 2 > SYMBOL_BUILD_ID_MAX)
		return -EINVAL;
	for (size_t i = 0; i < length / 2; i++) {
		int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		id->bytes[i] = (uint8_t)(high << 4 | low);
	}
	id->length = (uint8_t)(length / 2);
	return 0;
}

static size_t round_up4(size_t value)
{
	return (value + 3) & ~(size_t)3;
}

int symbol_build_id_from_notes(const uint8_t *notes, size_t length, struct symbol_build_id *id)
{
	size_t at = 0;

	while (length - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr header;
		size_t name, contents;

		memcpy(&header, notes + at, sizeof(header));
		name = at + sizeof(header);
		if (header.n_namesz > length || header.n_descsz > length)
			break;
		contents = name + round_up4(header.n_namesz);
		if (contents > length || header.n_descsz > length - contents)
			break;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && header.n_descsz > 0 &&
		    header.n_descsz <= SYMBOL_BUILD_ID_MAX) {
			id->length = (uint8_t)header.n_descsz;
			memcpy(id->bytes, notes + contents, header.n_descsz);
			return 0;
		}
		at = contents + round_up4(header.n_descsz);
		if (at > length)
			break;
	}
	return -ENOENT;
}
