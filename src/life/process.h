/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watching of a process, as it begins, is inherited by children, and ends. Called by any thread
 * of the program, outside handlers.
 */
#ifndef LIFE_PROCESS_H
#define LIFE_PROCESS_H

#include "record/area.h"

/* From now on this process notes its hits in `area`. 0 or -errno. */
int agent_attach(struct area *area);

/* Around what makes a child with memory of its own: in the parent before and after, in the child.
 */
void agent_before_fork(void);
void agent_after_fork(void);
void agent_in_child(void);
/* Counts a child with memory of its own that is made, or was, without agent_in_child() running in
 * it. */
void agent_note_unseen(void);

#endif
