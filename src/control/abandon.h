/* SPDX-License-Identifier: Apache-2.0 */
/* When the controller itself fails, the program goes on unwatched and its end is still reported. */
#ifndef CONTROL_ABANDON_H
#define CONTROL_ABANDON_H

#include "record/area.h"

#include <sys/types.h>

/* From here on, should this process crash or a library end it, it waits for `child` instead and
 * ends as that did. */
void abandon_prepare(struct area *area, pid_t child);

/* The child has ended so: waiting is over, its status is still what this process ends with. */
void abandon_settle(int status);

/* Nothing is at stake any more. */
void abandon_forget(void);

#endif
