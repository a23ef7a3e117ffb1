/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that run already: the handler is put into them by src/inject, and what the preload
 * library would write into the area as it announces itself is written here in its place. From then
 * on they are as any other process of the program.
 */
#ifndef ARRIVAL_ENTER_H
#define ARRIVAL_ENTER_H

#include "program/program.h"
#include "inject/inject.h"

enum enter_when {
	ENTER_NONE,
	ENTER_FIRST, /* before its first instruction */
	ENTER_LATE,  /* when its runtime has set its actions of signals, as Go's does */
};

/* Before control_run(). 0, or -errno with a reason: the process is as it was. */
int enter_process(struct program *program, pid_t pid, struct inject_reason *reason);

/* After control_finish(): nothing of ours remains in any of them. What could not be taken out is
 * told by say(). */
void enter_leave(struct program *program);

/* For the controller itself. */
/* A child that is about to execute a program which no library can be loaded into; then, when it
 * has. */
void entered_expect(struct program *program, pid_t child, enum enter_when entry);
void entered_start(struct program *program, pid_t child, enum enter_when entry);
bool entered_is(const struct program *program, pid_t pid);
/* What was put into the process; NULL: it was not entered. */
struct injection *entered_injection(const struct program *program, pid_t pid);
/* It stands before its first instruction until entered_go(). */
bool entered_is_held(const struct program *program, pid_t pid);
/* Of the process with that entry, as long as the controller lives. */
const struct inject_stacks *entered_stacks(const struct program *program, uint32_t index);
/* Lets those go on whose announcement has been answered. */
void entered_go(struct program *program);
/* Children that entered processes have forked meanwhile. */
void entered_look(struct program *program);
/* How many filters of system calls are known to let a process's handlers make theirs. Accepted:
 * threads of one process with as many, but other ones. */
int entered_filters(const struct program *program, pid_t pid);
/* The time asked for is over. */
bool entered_is_over(const struct program *program);

#endif
