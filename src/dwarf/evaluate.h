/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF expressions, from files and therefore bounded in steps and stack. */
#ifndef DWARF_EVALUATE_H
#define DWARF_EVALUATE_H

#include "dwarf/registers.h"
#include "memory/memory.h"

#include <elfutils/libdw.h>

/* What an expression may ask for. Fields that are unknown are left zero. */
struct symbol_evaluation {
	const struct symbol_registers *registers; /* NULL: none */
	const struct symbol_memory *memory;	  /* NULL: none */
	bool has_cfa, has_frame_base, has_initial;
	uint64_t cfa, frame_base;
	uint64_t initial; /* pushed first */
	uint64_t bias;	  /* added to addresses of the file */
};

enum symbol_location_kind {
	SYMBOL_LOCATION_MEMORY,	  /* value is an address */
	SYMBOL_LOCATION_REGISTER, /* value is a register's number, below SYMBOL_REGISTER_COUNT */
	SYMBOL_LOCATION_VALUE,	  /* value is the object itself, which has no location */
};

struct symbol_location {
	enum symbol_location_kind kind;
	uint64_t value;
};

/* 0, or -EINVAL (malformed, or not understood), or -ENODATA (needs something unknown). */
int symbol_evaluate(const struct symbol_evaluation *evaluation, const Dwarf_Op *ops, size_t count,
		    struct symbol_location *location);

#endif
