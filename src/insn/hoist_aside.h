/* SPDX-License-Identifier: Apache-2.0 */
/* A way that a thread left aside at a branch. Not for other folders. */
#ifndef INSN_HOIST_ASIDE_H
#define INSN_HOIST_ASIDE_H

#include "insn/hoist.h"

/* Which registers hold the value, or what was made of it, a bit each, at `pc`. */
struct hoist_holders {
	uint64_t pc;
	uint16_t general;
	uint32_t vectors;
	bool stack;    /* what is relative to the stack pointer may, too */
	bool returned; /* hoist_is_dropped(): the first vector may be what a function returns … */
	bool looped;   /* … but for leaving a loop with it */
};

struct hoist_aside {
	struct hoist_holders holders; /* at its first instruction */
};

/* Where the thread went. */
struct hoist_own {
	const struct hoist_holders *at;
	unsigned count;
	bool ended; /* false: as far as was looked it went on, in a loop */
};

/*
 * Does it use the value, or come back with it in a register that the thread itself comes there
 * without? Where the thread's own way did not come to an end it is in a loop, and
 * what uses the value behind that does so in any case: so the way must come back.
 */
bool hoist_is_used_aside(const struct hoist_aside *aside, const struct insn_hoist *hoist,
			 const struct hoist_own *own);

/* Is what these registers hold overwritten on every way from there, and made use of on none, as far
 * as a hundred instructions tell? `narrow`: of vectors it is in the lower 16 bytes. */
bool hoist_is_dropped(const struct hoist_holders *holders, const struct insn_hoist *hoist,
		      bool narrow);

#endif
