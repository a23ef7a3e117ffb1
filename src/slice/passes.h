/* SPDX-License-Identifier: Apache-2.0 */
/* Is a value that is stored what its load has loaded last? */
#ifndef SLICE_PASSES_H
#define SLICE_PASSES_H

#include "slice/slice.h"

/* May what the registers `held` hold before instruction `last` have been loaded by `load` in an
 * earlier pass than its last one before `last`? True as well if the code is too much to tell. If
 * false, work->changed has the general registers that change between the two. */
bool slice_outlives_load(struct flow_slice_work *work, uint64_t start, uint16_t load, uint16_t last,
			 uint64_t held);

/* The general registers, a bit each, that the instruction changes or may change. */
uint16_t slice_changed_by(const struct insn_effect *effect);

#endif
