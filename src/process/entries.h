/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a function is entered other than at its start. Compilers put what is seldom run into a part
 * of its own elsewhere (.cold), with an entry of its own in the unwind tables. Such a part is known
 * by a jump to where no function begins: from it into the midst of the rest, or from there into its
 * own.
 */
#ifndef PROCESS_ENTRIES_H
#define PROCESS_ENTRIES_H

#include "insn/origin.h"
#include "process/space.h"

/*
 * Of the function, or part of one, at [start, end). 0: these are all; or -errno, where they are not
 * known (code that cannot be read or decoded, too many). An entry at 0 says that the start is none
 * of a function. Accepted: a part that jumps back through memory alone, and one without a name that
 * never jumps back, are taken for functions of their own.
 */
int entries_find(struct space *space, uint64_t start, uint64_t end, struct insn_entries *entries);

#endif
