/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watching of a process, as it begins, is inherited by children, and ends.
 *
 * The room also holds what a program does that the watching must follow or end for: the environment
 * (environment.h), a controller of its own (companion.h), threads (thread.c), restrictions of its
 * own calls (filter.h, number.c), debugging (trace.c), _exit() (exit.c). It promises that the
 * program sees its own environment and its own results, and that in doubt it runs unwatched. Called
 * by any thread of the program, outside handlers.
 */
#ifndef LIFE_PROCESS_H
#define LIFE_PROCESS_H

#include "record/area.h"

/* Attaches this process to `area`, in which it notes its hits from now on. 0 or -errno. */
int agent_attach(struct area *area);

/* To be called around what makes a child with memory of its own: in the parent before and after it,
 * and in the child. */
void agent_before_fork(void);
void agent_after_fork(void);
void agent_in_child(void);
/* Counts a child with memory of its own in which agent_in_child() does not run. */
void agent_note_unseen(void);

#endif
