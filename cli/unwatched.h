/* SPDX-License-Identifier: Apache-2.0 */
/* Tells, at the end, whether anything was watched, and if little was, why; and at the beginning
 * where nothing can be. */
#ifndef CLI_UNWATCHED_H
#define CLI_UNWATCHED_H

#include "control/control.h"

/* Prints lines on standard error, each with the counter that explains most, or none. `nothing`: the
 * words for a run in which no process took part, "nothing was watched". */
void unwatched_tell(const struct control *control, const char *nothing);

/* Prints a line where no watchpoint fires on this machine: the program runs all the same, and what
 * needs none works. `guards`: blocks of its heap are guarded. */
void unwatched_foretell(bool guards);

#endif
