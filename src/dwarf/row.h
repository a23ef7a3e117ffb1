/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information at one address: how to find the caller's registers. Rows made of plain
 * offsets are kept compactly; any other keeps libdw's frame for its expressions.
 */
#ifndef DWARF_ROW_H
#define DWARF_ROW_H

#include "dwarf/registers.h"
#include "memory/memory.h"

#include <elfutils/libdw.h>

struct symbol_object;

struct symbol_row {
	uint64_t address;
	bool used, missing;   /* missing: the object has no information here */
	bool signal;	      /* the frame of a signal: its caller was interrupted, not calling */
	bool no_return;	      /* the return address is undefined: outermost */
	uint8_t cfa_register; /* when frame is NULL */
	int64_t cfa_offset;
	uint32_t same, saved; /* bit per register: unchanged; saved in memory at cfa + offset */
	int32_t offset[SYMBOL_REGISTER_COUNT];
	Dwarf_Frame *frame; /* NULL for a plain row */
};

struct symbol_row_cache;

/* The row for the file's own `address`; NULL if there is none. Valid until the next call. */
const struct symbol_row *symbol_row_find(struct symbol_object *object, uint64_t address);

/* Registers of the caller, and the canonical frame address. `bias`: of the module.
 * 0, or -ENODATA, or -EINVAL. */
int symbol_row_apply(const struct symbol_row *row, const struct symbol_registers *registers,
		     const struct symbol_memory *memory, uint64_t bias,
		     struct symbol_registers *caller, uint64_t *cfa);

#endif
