/* SPDX-License-Identifier: Apache-2.0 */
/* Is what a loop has loaded always in what is stored, whatever it loads then? */
#ifndef SLICE_GATHER_H
#define SLICE_GATHER_H

#include "slice/carry.h"

/* True: it is, but for the bytes that are noted in the load as lost (`bytes_lost`, `byte_lost`).
 * work->changed then has the general registers that change from the load on until it arrives. */
bool slice_gathers(struct flow_slice_work *work, uint64_t start, struct flow_end *load,
		   const struct slice_arrival *arrival);

#endif
