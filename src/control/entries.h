/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of the area, one a process. A process claims one by writing its own id (pid) into a
 * free one, and keeps it until it has ended, watched or not: its threads may still be writing hits
 * in the entry's name. Only then is the entry given to others, whatever state it is in, and what
 * the process had begun to write is taken back.
 */
#ifndef CONTROL_ENTRIES_H
#define CONTROL_ENTRIES_H

#include "control/control.h"

struct entries;

int entries_create(struct control *control);
void entries_destroy(struct control *control);

/* Tells the process what has become of its entry. */
void entry_answer(struct area_process *shared, enum area_process_state state);

/* Does a process that nobody watches yet seem to ask for it? */
bool entry_is_wanted(struct control *control, uint32_t index);

/* The process behind an entry, which a pidfd (-1: there is none) holds on to; it is closed with it.
 */
void entry_know(struct control *control, uint32_t index, pid_t pid, int pidfd);

/* It is watched no longer: the entry is free if it has ended. */
void entry_leave(struct control *control, uint32_t index);

/* Its process has ended, or executed another program. */
void entry_release(struct control *control, uint32_t index);

/* Other entries of a process that has announced itself in this one: their programs are no more. */
void entries_replace(struct control *control, uint32_t index, pid_t pid);

/* Frees those of processes that have ended, but for those that are watched: their end is told
 * first.
 */
void entries_check(struct control *control);

/* Are so many taken that the next process may find none? */
bool entries_are_scarce(const struct control *control);

/* hits.c: records that the process of this entry, which has ended, has begun to write. */
void hits_reclaim(struct control *control, uint32_t index);

#endif
