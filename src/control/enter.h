/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that run already: the handler is put into them by src/inject, and what the preload
 * library would write into the area as it announces itself is written here in its place. From then
 * on they are as any other process of the program.
 */
#ifndef CONTROL_ENTER_H
#define CONTROL_ENTER_H

#include "control/control.h"
#include "inject/inject.h"

/* Before control_run(). 0, or -errno with a reason: the process is as it was. */
int control_enter(struct control *control, pid_t pid, struct inject_reason *reason);

/* After control_finish(): nothing of ours remains in any of them. What could not be taken out is
 * told by say(). */
void control_leave(struct control *control);

/* For the controller itself. */
/* A child that is about to execute a program which no library can be loaded into; then, when it
 * has. */
void entered_expect(struct control *control, pid_t child, enum control_entry entry);
void entered_start(struct control *control, pid_t child, enum control_entry entry);
bool entered_is(const struct control *control, pid_t pid);
/* Of the process with that entry, as long as the controller lives. */
const struct inject_stacks *entered_stacks(const struct control *control, uint32_t index);
/* Lets those go on whose announcement has been answered. */
void entered_go(struct control *control);
/* Children that entered processes have forked meanwhile. */
void entered_look(struct control *control);
/* The time asked for is over. */
bool entered_is_over(const struct control *control);

#endif
