/* SPDX-License-Identifier: Apache-2.0 */
/* Masks that a register holds, taken for constants. */
#ifndef SLICE_CONSTANTS_H
#define SLICE_CONSTANTS_H

#include "slice/slice.h"

/* Called after slice_find_labels(): replaces registers that hold a mask by that constant. */
void slice_fold_constants(struct flow_slice_work *work, uint64_t start);

#endif
