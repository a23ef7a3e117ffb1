/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that put elements of vectors in other places. Not for other folders. */
#ifndef INSN_EFFECT_SHUFFLE_H
#define INSN_EFFECT_SHUFFLE_H

#include "insn/effect_operation.h"

/* INSN_SHUFFLE, or INSN_CONVERT with `*element` as struct insn_result has it; else INSN_COMPUTE. */
enum insn_operation effect_shuffle(const struct effect_decoded *decoded, unsigned *element);

/* Of one of these, as struct insn_result has it. */
void effect_lane(const struct effect_decoded *decoded, uint8_t lane[INSN_LANES]);

#endif
