/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/bounds.h"

#include "elf/object.h"
#include "session/asking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int symbol_bounds_find(struct symbol_modules *modules, uint64_t pc, uint64_t *start, uint64_t *end)
{
	const struct symbol_module *module;
	struct symbol_object *object;
	Dwarf_Addr low, high;
	Dwarf_Frame *frame;
	Dwarf_CFI *cfi;
	bool signal;
	int result;

	if (SYMBOL_ASK(symbol_modules_session(modules), bounds, modules, false, pc, start, end,
		       &result))
		return result;
	module = symbol_modules_find(modules, pc);
	object = module ? symbol_module_object(modules, module) : NULL;
	cfi = object ? symbol_object_eh(object) : NULL;
	if (!cfi || dwarf_cfi_addrframe(cfi, pc - module->bias - object->eh_bias, &frame))
		return -ENOENT;
	dwarf_frame_info(frame, &low, &high, &signal);
	free(frame);
	*start = low + object->eh_bias + module->bias;
	*end = high + object->eh_bias + module->bias;
	return pc >= *start && pc < *end ? 0 : -ENOENT;
}

/* A section of the file, and the linked address at which it is. */
struct part {
	const uint8_t *bytes;
	uint64_t address, length;
};

static bool find_part(struct symbol_object *object, const char *name, struct part *part)
{
	const Elf_Data *data = symbol_object_section(object, name, &part->address);

	if (!data || !data->d_buf)
		return false;
	part->bytes = data->d_buf;
	part->length = data->d_size;
	return true;
}

/* The number at `offset`, which a bad file may put anywhere; 0: it is outside the section. */
static int32_t number_at(const struct part *part, uint64_t offset)
{
	int32_t number = 0;

	if (offset <= part->length && part->length - offset >= sizeof(number))
		memcpy(&number, part->bytes + offset, sizeof(number));
	return number;
}

/* How .eh_frame_hdr begins as linkers write it (Linux Standard Base, 10.6.2): version 1, pcrel
 * sdata4, udata4, and a table of datarel sdata4, which has the functions' starts in order, each
 * with its entry. */
static const uint8_t usual_header[4] = {1, 0x1b, 0x03, 0x3b};
#define TABLE 12      /* bytes from the beginning to the table */
#define TABLE_ENTRY 8 /* bytes of one of its rows */
/* bytes from an entry of .eh_frame to its function's start, pcrel sdata4 … */
#define ENTRY_START 8
#define ENTRY_LENGTH 12 /* … and to the function's length */

static int find_entry(const struct part *header, uint64_t address, uint64_t *start, uint64_t *entry)
{
	uint64_t low = 0, high = (uint32_t)number_at(header, 8);

	if (header->length < TABLE || memcmp(header->bytes, usual_header, sizeof(usual_header)))
		return -ENOENT;
	if (high > (header->length - TABLE) / TABLE_ENTRY)
		return -ENOENT;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		int64_t begin = number_at(header, TABLE + middle * TABLE_ENTRY);

		if (header->address + (uint64_t)begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return -ENOENT;
	*start = header->address + (uint64_t)(int64_t)number_at(header, TABLE + (low - 1) * 8);
	*entry = header->address + (uint64_t)(int64_t)number_at(header, TABLE + (low - 1) * 8 + 4);
	return 0;
}

/* Searches .eh_frame itself, whose entries are in no order: linkers write no .eh_frame_hdr into
 * static programs. */
static int search_entries(const struct part *frames, uint64_t address, uint64_t *start,
			  uint64_t *entry)
{
	uint64_t length;

	for (uint64_t at = 0; at + ENTRY_LENGTH < frames->length; at += length + 4) {
		length = (uint32_t)number_at(frames, at);
		if (!length || length > frames->length - at - 4)
			return -ENOENT;
		*entry = frames->address + at;
		*start = *entry + ENTRY_START +
			 (uint64_t)(int64_t)number_at(frames, at + ENTRY_START);
		/* An entry that others share (CIE) has 0 where these have the distance to it. */
		if (number_at(frames, at + 4) &&
		    address - *start < (uint32_t)number_at(frames, at + ENTRY_LENGTH))
			return 0;
	}
	return -ENOENT;
}

/* Asks libdw whether it has the same bounds. No table led to an entry that was searched for, and
 * one of another form may look like it. */
static int confirm(struct symbol_modules *modules, uint64_t pc, uint64_t start, uint64_t end)
{
	uint64_t low, high;

	if (symbol_bounds_find(modules, pc, &low, &high))
		return -ENOENT;
	return low >= start && high <= end ? 0 : -ENOENT;
}

int symbol_bounds_whole(struct symbol_modules *modules, uint64_t pc, uint64_t *start, uint64_t *end)
{
	const struct symbol_module *module;
	struct symbol_object *object;
	struct part header, frames;
	uint64_t entry, at;
	bool sorted;
	int result;

	if (SYMBOL_ASK(symbol_modules_session(modules), bounds, modules, true, pc, start, end,
		       &result))
		return result;
	module = symbol_modules_find(modules, pc);
	object = module ? symbol_module_object(modules, module) : NULL;
	if (!object || !find_part(object, ".eh_frame", &frames))
		return -ENOENT;
	sorted = find_part(object, ".eh_frame_hdr", &header);
	if (sorted ? find_entry(&header, pc - module->bias, start, &entry)
		   : search_entries(&frames, pc - module->bias, start, &entry))
		return -ENOENT;
	at = entry - frames.address;
	/* An entry of another form does not have the function's start that the table has. */
	if (entry + ENTRY_START + (uint64_t)(int64_t)number_at(&frames, at + ENTRY_START) != *start)
		return -ENOENT;
	*start += module->bias;
	*end = *start + (uint32_t)number_at(&frames, at + ENTRY_LENGTH);
	if (pc < *start || pc >= *end)
		return -ENOENT;
	return sorted ? 0 : confirm(modules, pc, *start, *end);
}
