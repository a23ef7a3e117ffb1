/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of numbers that have no bit in common. */
#ifndef SLICE_DISJOINT_H
#define SLICE_DISJOINT_H

#include "slice/slice.h"

/* Is the result of instruction `index` a sum of numbers that have no bit in common? */
bool slice_is_disjoint(const struct flow_slice_work *work, uint16_t index,
		       const struct insn_result *result);

#endif
