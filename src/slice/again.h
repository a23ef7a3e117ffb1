/* SPDX-License-Identifier: Apache-2.0 */
/* May a store run again without what it stores having been made anew? */
#ifndef SLICE_AGAIN_H
#define SLICE_AGAIN_H

#include "slice/slice.h"

/* Can control come from instruction `last` to it again without passing any end of the slice? */
bool slice_runs_again(struct flow_slice_work *work, const struct flow_slice *slice, uint64_t start,
		      uint16_t last);

#endif
