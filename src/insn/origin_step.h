/* SPDX-License-Identifier: Apache-2.0 */
/* What one instruction makes of the origins of registers (origin.h). Not for other folders. */
#ifndef INSN_ORIGIN_STEP_H
#define INSN_ORIGIN_STEP_H

#include "insn/origin.h"

#include <stdbool.h>

#define INSN_ORIGIN_OFFSET_MOST 0x100000 /* a loop that adds to a register ends here */

/* Where it leads. */
struct insn_origin_next {
	uint8_t length;
	bool calls;	     /* what it calls comes back behind it */
	bool jumps;	     /* to `offset` from its end … */
	bool jumps_anywhere; /* … or to where a register or memory says */
	bool ends;	     /* nothing comes behind it */
	bool pads;	     /* it does nothing, or traps: it stands between what is run */
	uint64_t offset;
};

/* Carries out the instruction at `code`, at most `available` bytes, on `state`; of a call, jump or
 * return only `next` is told. 0 or -EILSEQ. */
int insn_origin_step(const uint8_t *code, size_t available, struct insn_origin state[INSN_GENERAL],
		     struct insn_origin_next *next);

#endif
