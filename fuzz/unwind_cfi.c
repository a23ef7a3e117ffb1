/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is taken for a segment: .eh_frame_hdr at its start, entries anywhere. Every entry is
 * interpreted at several places, and each row applied to made-up registers, so that expressions
 * run too (their memory reads go through the kernel and cannot fault).
 */
#include <string.h>

#include "unwind/cfi.h"
#include "unwind/frame.h"
#include "unwind/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESS 0x10000u

static void apply(const struct bytes *section, const struct cfi_entry *entry, uint64_t pc)
{
	uint64_t stack[64];
	struct unwind_registers registers;
	struct memory memory;
	struct cfi_row row;

	if (cfi_find_row(section, entry, pc, &row))
		return;
	for (size_t i = 0; i < 64; i++)
		stack[i] = (uintptr_t)&stack[i ^ 5];
	for (unsigned i = 0; i < UNWIND_REGISTER_COUNT; i++)
		registers.value[i] = (uintptr_t)&stack[2 * i];
	registers.known = (1u << UNWIND_REGISTER_COUNT) - 1;
	registers.interrupted = 1;
	memory_init(&memory);
	frame_apply(section, entry, &row, &memory, &registers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object object = {{data, size, ADDRESS, 0, false}, ADDRESS};
	struct cfi_entry entry;
	size_t position = 0;

	for (unsigned entries = 0; entries < 64; entries++) {
		if (cfi_read_entry(&object.section, position, &entry) == 0) {
			apply(&object.section, &entry, entry.start);
			apply(&object.section, &entry, entry.start + 1);
			apply(&object.section, &entry, entry.end - 1);
			table_search(&object, entry.start, &entry);
		}
		position = cfi_next_position(&object.section, position);
		if (!position)
			break;
	}
	table_search(&object, ADDRESS + size / 2, &entry);
	return 0;
}
