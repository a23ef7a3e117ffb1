/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction on a state. Not for other folders. */
#ifndef INSN_SHADOW_STEP_H
#define INSN_SHADOW_STEP_H

#include "insn/shadow.h"
#include "insn/values.h"

struct shadow_step {
	struct insn_effect effect;
	struct shadow_operands operands;
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available;
};

void shadow_locate(const struct insn *insn, const struct insn_registers *registers, uint16_t known,
		   bool after, struct shadow_operands *operands);

/* The instruction at the state's pc. False: it cannot be decoded, or traps. */
bool shadow_step_decode(const struct shadow_walk *walk, const struct shadow_state *state,
			struct shadow_step *step);

/* What of it depends on the value. */
enum shadow_sink shadow_step_sink(const struct shadow_state *state, const struct shadow_step *step,
				  bool *vague);

/* False: where it leads is not known. System calls are none of its affair. */
bool shadow_step_carry_out(struct shadow_state *state, const struct shadow_step *step,
			   bool *leaves);

/* What is to be done with the function that was called or jumped to; no detour. */
enum shadow_function shadow_step_arrive(const struct shadow_walk *walk, struct shadow_state *state,
					struct shadow_answer *answer);
/* It has returned. False: where to is not known. */
bool shadow_step_skip(struct shadow_state *state, const struct shadow_answer *answer);

/* What the instruction has put of vectors into a register or memory is known from then on. */
void shadow_vector_tell(const struct shadow_vectors *vectors, struct insn_forward *forward);

bool shadow_is_in(const struct shadow *shadow, int number);
bool shadow_in_registers(const struct shadow *shadow);

/* ------------------------------------------------------------------------------------------- */

/*
 * The state stands at a branch whose direction depends on the value. True: all ways on from there
 * meet again and nothing that is left tells them apart; the state is then where they meet, on the
 * thread's own way.
 */
bool shadow_meet(struct shadow_walk *walk, struct shadow_state *state);

#endif
