/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded values that the code compares with a constant and goes no further with. */
#ifndef SLICE_GUARD_H
#define SLICE_GUARD_H

#include "slice/slice.h"

/* Called when the slice is complete. Notes in the end, which is a load, the constants with which
 * the loaded value never reaches the slice's instruction, `last` (or SLICE_NOWHERE). */
void slice_note_barred(const struct flow_slice_work *work, uint64_t start, struct flow_end *load,
		       uint16_t last);

#endif
