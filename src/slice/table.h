/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of jumps: where a `switch` leads to. */
#ifndef SLICE_TABLE_H
#define SLICE_TABLE_H

#include "slice/slice.h"

/* Marks in work->label the instructions of the decoded function that tables of jumps lead to. */
void slice_find_labels(struct flow_slice_work *work, uint64_t start);

#endif
