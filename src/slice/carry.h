/* SPDX-License-Identifier: Apache-2.0 */
/* Does a loaded value reach the store whatever way control takes? Sets of registers have a bit for
 * each slice_register(). */
#ifndef SLICE_CARRY_H
#define SLICE_CARRY_H

#include "slice/slice.h"

/* The registers that depend on what the instruction loads. */
uint64_t slice_loaded_by(const struct insn_effect *effect);

/* The registers that, after the instruction, depend on what those in `held` held before it. */
uint64_t slice_behind(const struct insn_effect *effect, uint64_t held);

/* Where a value is to arrive: at an instruction or at every return, in some registers or in the
 * memory that the instruction stores to. */
struct slice_arrival {
	uint16_t index;	  /* SLICE_NOWHERE: every return */
	uint64_t wanted;  /* the registers */
	bool stored;	  /* it is to arrive in memory operand `operand` instead */
	unsigned operand; /* of instruction `index` */
};

bool slice_is_there(const struct flow_slice_work *work, const struct slice_arrival *arrival,
		    uint16_t index);

/* Does what arrives there depend on the registers `held`? */
bool slice_is_made_of(const struct flow_slice_work *work, const struct slice_arrival *arrival,
		      uint16_t index, uint64_t held);

/* Does what instruction `load` has loaded, or its call has returned, arrive whatever way is taken,
 * also if it loads again before that? False if control can leave the function without arriving. */
bool slice_arrives(struct flow_slice_work *work, uint64_t start, uint16_t load,
		   const struct slice_arrival *arrival);

/* May an instruction on the slice's ways that takes one of two sources have taken the one that is
 * not made of the end? False if both are made of it, as where a sign or a digit is chosen. True as
 * well if the code is too much to tell. */
bool slice_is_one_of_two(struct flow_slice_work *work, uint64_t start, const struct flow_end *end);

#endif
