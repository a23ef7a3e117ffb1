/* SPDX-License-Identifier: Apache-2.0 */
/* An expression as typed, and what it turned out to be. */
#ifndef WATCH_WANTED_H
#define WATCH_WANTED_H

#include "lasting/lasting.h"
#include "symbol/target.h"

#include <stdbool.h>
#include <stdint.h>

/* As the process has it that resolved it last. */
struct wanted {
	const char *text;
	struct symbol_expression expression;
	unsigned access; /* SYMBOL_ACCESS_…; 0 until resolved once */
	bool is_signed, is_pointer;
	uint64_t blocks;		  /* of the heap that were watched */
	bool full;			  /* some were not, since no hardware was left */
	bool endless;			  /* of one the end might have been missed */
	uint64_t uncovered;		  /* threads whose copy could not be watched */
	uint64_t shown;			  /* hits that passed the filters */
	uint64_t kernel;		  /* by the kernel's own counts, of ended processes */
	struct lasting_estimate estimate; /* hits beyond those, to keep to --budget */
};

#endif
