/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places that a decoded instruction's operands and flags are. Not for other folders.
 */
#ifndef INSN_EFFECT_PLACE_H
#define INSN_EFFECT_PLACE_H

#include "insn/effect_operation.h"

struct insn_place effect_register_place(ZydisRegister name);

/* INSN_PLACE_OTHER for what has no place of its own. */
struct insn_place effect_place(const struct effect_decoded *decoded, unsigned index);

/* `flags` and what the two below return: INSN_FLAG_*, 0 for none. */
struct insn_place effect_flags_place(unsigned flags);
unsigned effect_flags_read(const struct effect_decoded *decoded);
unsigned effect_flags_written(const struct effect_decoded *decoded);

#endif
