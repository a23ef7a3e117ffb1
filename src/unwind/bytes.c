/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/bytes.h"

#include <string.h>

/* A copy of known size is one load; unwinding spends most of its time here. */
uint64_t bytes_unsigned(struct bytes *bytes, size_t size)
{
	const uint8_t *from = bytes->start + bytes->at;
	uint64_t value = 0;

	if (bytes->failed || bytes->at > bytes->length || size > bytes->length - bytes->at) {
		bytes->failed = true;
		return 0;
	}
	bytes->at += size;
	switch (size) {
	case 1:
		return *from;
	case 2:
		memcpy(&value, from, 2);
		return value;
	case 4:
		memcpy(&value, from, 4);
		return value;
	default:
		memcpy(&value, from, 8);
		return value;
	}
}

int64_t bytes_signed(struct bytes *bytes, size_t size)
{
	unsigned unused = 64 - 8 * (unsigned)size;

	return (int64_t)(bytes_unsigned(bytes, size) << unused) >> unused;
}

/* Seven bits a byte, the lowest first; the last byte lacks the highest bit. `bits`: how many there
 * were. */
static uint64_t leb128(struct bytes *bytes, unsigned *bits, uint8_t *last)
{
	uint64_t value = 0;

	*bits = 0;
	do {
		*last = (uint8_t)bytes_unsigned(bytes, 1);
		if (*bits < 64)
			value |= (uint64_t)(*last & 0x7f) << *bits;
		*bits += 7;
	} while (*last & 0x80);
	return value;
}

uint64_t bytes_uleb128(struct bytes *bytes)
{
	unsigned bits;
	uint8_t last;

	return leb128(bytes, &bits, &last);
}

int64_t bytes_sleb128(struct bytes *bytes)
{
	unsigned bits;
	uint8_t last;
	uint64_t value = leb128(bytes, &bits, &last);

	if (bits < 64 && (last & 0x40))
		value |= ~(uint64_t)0 << bits;
	return (int64_t)value;
}

void bytes_skip(struct bytes *bytes, uint64_t count)
{
	if (bytes->failed || bytes->at > bytes->length || count > bytes->length - bytes->at)
		bytes->failed = true;
	else
		bytes->at += count;
}

static uint64_t read_format(struct bytes *bytes, uint8_t format)
{
	switch (format) {
	case 0x01:
		return bytes_uleb128(bytes);
	case 0x02:
		return bytes_unsigned(bytes, 2);
	case 0x03:
		return bytes_unsigned(bytes, 4);
	case 0x00:
	case 0x04:
	case 0x0c:
		return bytes_unsigned(bytes, 8);
	case 0x09:
		return (uint64_t)bytes_sleb128(bytes);
	case 0x0a:
		return (uint64_t)bytes_signed(bytes, 2);
	case 0x0b:
		return (uint64_t)bytes_signed(bytes, 4);
	default:
		bytes->failed = true;
		return 0;
	}
}

static void align_to_word(struct bytes *bytes)
{
	bytes_skip(bytes, (8 - (bytes->address + bytes->at) % 8) % 8);
}

uint64_t bytes_pointer(struct bytes *bytes, uint8_t encoding, uint64_t data)
{
	uint64_t base = 0;

	switch (encoding & POINTER_BASE) {
	case 0x00: /* as it is */
	case 0x20: /* text-relative: no such base on x86-64 */
		break;
	case 0x10: /* relative to the pointer itself */
		base = bytes->address + bytes->at;
		break;
	case 0x30:
		base = data;
		break;
	case 0x50:
		align_to_word(bytes);
		break;
	default: /* function-relative: not used for what we read */
		bytes->failed = true;
		return 0;
	}
	return base + read_format(bytes, encoding & POINTER_FORMAT);
}
