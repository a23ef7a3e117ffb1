/* SPDX-License-Identifier: Apache-2.0 */
/* When the controller itself fails, the program goes on unwatched and its end is still reported. */
#ifndef PROGRAM_ABANDON_H
#define PROGRAM_ABANDON_H

#include "record/area.h"

#include <sys/types.h>

/* From here on, should this process crash, the area is closed and the file that the environment's
 * TRAPLINE_ERRORS names, where there is one, is told. */
void abandon_prepare(struct area *area);

/* And from here on, should it crash or a library end it, it waits for `child` and ends as that did.
 */
void abandon_begin(pid_t child);

/* In a forked process that goes on in the controller's place. */
void abandon_take_over(void);

/* The child has ended so: waiting is over, its status is still what this process ends with. */
void abandon_settle(int status);

/* The controller has gone round its loop. */
void abandon_beat(void);

/* Somebody asked this process to end. Should it turn out to be stuck, in a file, a terminal or a
 * pipe that does not go on, it is left as after a crash. Async-signal-safe. */
void abandon_when_stuck(void);

/* Nothing is at stake any more. */
void abandon_forget(void);

#endif
