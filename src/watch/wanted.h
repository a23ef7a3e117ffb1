/* SPDX-License-Identifier: Apache-2.0 */
/* An expression as typed, and what it turned out to be. */
#ifndef WATCH_WANTED_H
#define WATCH_WANTED_H

#include "lasting/lasting.h"
#include "symbol/target.h"

#include <stdbool.h>
#include <stdint.h>

/* What an expression means, as in the process that resolved it last. */
struct wanted {
	const char *text;
	struct symbol_expression expression;
	unsigned access; /* SYMBOL_ACCESS_…; 0 until resolved once */
	bool is_signed, is_pointer;
	uint64_t blocks; /* blocks of the heap that were watched */
	bool full;	 /* some blocks were not watched, since no slot was free */
	/* of a block, the end might have been missed, so it was not watched */
	bool endless;
	uint64_t uncovered; /* threads whose own copy could not be watched */
	uint64_t shown;	    /* hits that passed the filters */
	/* hits by the kernel's own counts, in processes that have ended */
	uint64_t kernel;
	/* hits beyond `kernel`, made while slots rested to keep to --budget */
	struct lasting_estimate estimate;
};

#endif
