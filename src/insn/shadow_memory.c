/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/shadow.h"

#include <string.h>

#define OFFSET(address) ((address) % SHADOW_LINE)
#define START(address) ((address)-OFFSET(address))

static struct shadow_line *line_of(const struct shadow *shadow, uint64_t address)
{
	for (unsigned i = 0; i < SHADOW_LINES; i++)
		if (shadow->line[i].address == START(address))
			return (struct shadow_line *)&shadow->line[i];
	return NULL;
}

static bool is_clear(const uint8_t *bits, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bits[i])
			return false;
	return true;
}

/* How much of `length` lies in the line of `address`. */
static size_t part_of(uint64_t address, size_t length)
{
	size_t part = SHADOW_LINE - OFFSET(address);

	return part < length ? part : length;
}

void shadow_read(const struct shadow *shadow, uint64_t address, uint8_t *bits, size_t length)
{
	while (length) {
		size_t part = part_of(address, length);
		const struct shadow_line *line = line_of(shadow, address);

		if (line)
			memcpy(bits, line->bits + OFFSET(address), part);
		else
			memset(bits, 0, part);
		address += part;
		bits += part;
		length -= part;
	}
}

/* Lines without a shadow are free: `address` 0 stands for those. */
static struct shadow_line *line_for(struct shadow *shadow, uint64_t address)
{
	struct shadow_line *line = line_of(shadow, address);

	if (line || START(address) == 0)
		return line;
	line = line_of(shadow, 0);
	if (!line) {
		shadow->lost = true;
		return NULL;
	}
	line->address = START(address);
	return line;
}

static void write_part(struct shadow *shadow, uint64_t address, const uint8_t *bits, size_t length)
{
	struct shadow_line *line = is_clear(bits, length) ? line_of(shadow, address)
							  : line_for(shadow, address);

	if (!line || !line->address)
		return;
	memcpy(line->bits + OFFSET(address), bits, length);
	if (is_clear(line->bits, SHADOW_LINE))
		line->address = 0;
}

void shadow_write(struct shadow *shadow, uint64_t address, const uint8_t *bits, size_t length)
{
	while (length) {
		size_t part = part_of(address, length);

		write_part(shadow, address, bits, part);
		address += part;
		bits += part;
		length -= part;
	}
}

void shadow_fill(struct shadow *shadow, uint64_t address, uint8_t bits, size_t length)
{
	uint8_t line[SHADOW_LINE];

	memset(line, bits, sizeof(line));
	while (length) {
		size_t part = part_of(address, length);

		write_part(shadow, address, line, part);
		address += part;
		length -= part;
	}
}

bool shadow_find(const struct shadow *shadow, uint64_t address, uint64_t length, uint64_t *first,
		 uint64_t *found)
{
	uint64_t best = length, run = 0;

	for (unsigned i = 0; i < SHADOW_LINES; i++) {
		const struct shadow_line *line = &shadow->line[i];

		for (unsigned j = 0; line->address && j < SHADOW_LINE; j++)
			if (line->bits[j] && line->address + j - address < best)
				best = line->address + j - address;
	}
	if (best == length)
		return false;
	while (best + run < length) {
		uint8_t bits;

		shadow_read(shadow, address + best + run, &bits, 1);
		if (!bits)
			break;
		run++;
	}
	*first = address + best;
	*found = run;
	return true;
}
