/* SPDX-License-Identifier: Apache-2.0 */
/* When the controller itself fails, the program goes on unwatched and its end is still reported. */
#ifndef PROGRAM_ABANDON_H
#define PROGRAM_ABANDON_H

#include "record/area.h"

#include <sys/types.h>

/* From this call on, if this process crashes, its signal handler closes the area and appends a line
 * to the file that the environment's TRAPLINE_ERRORS names, if it names one. */
void abandon_prepare(struct area *area);

/* Called in the child that is about to become the program: of these signals it ignores those that
 * were ignored before abandon_prepare(). */
void abandon_inherit(void);

/* From this call on, if this process crashes or a library ends it, it waits for `child` first and
 * then ends as that did. */
void abandon_begin(pid_t child);

/* Called in a forked process that goes on in the controller's place: the stakes are its own from
 * now on. */
void abandon_take_over(void);

/* The child has ended with this wait status: nothing is waited for any more, but this process still
 * ends with that status. */
void abandon_settle(int status);

/* The controller calls this once in each turn of its loop; abandon_when_stuck() sees by it that the
 * loop goes on. */
void abandon_beat(void);

/* Called when somebody asked this process to end. If it turns out to be stuck in a file, a terminal
 * or a pipe, the watching is abandoned as after a crash. Async-signal-safe. */
void abandon_when_stuck(void);

/* The program has been left in good order: a crash after this call waits for nobody. */
void abandon_forget(void);

#endif
