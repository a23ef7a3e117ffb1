/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of the area, one a process. A process claims one by writing its own id (pid) into a
 * free one, and keeps it until it has ended, watched or not: its threads may still be writing hits
 * in the entry's name. Only then is the entry given to others, whatever state it is in, and what
 * the process had begun to write is taken back.
 */
#ifndef PROGRAM_ENTRIES_H
#define PROGRAM_ENTRIES_H

#include "program/program.h"

struct entries;

int entries_create(struct program *program);
void entries_destroy(struct program *program);

/* Tells the process what has become of its entry. */
void entry_answer(struct area_process *shared, enum area_process_state state);
/* That it is watched, unless it has said good-bye since it announced itself, and waits until its
 * events are gone: that stands. */
void entry_answer_announced(struct area_process *shared);

/* Processes that are watched or ask to be. */
unsigned entries_waiting(struct program *program);

/* The process behind an entry, which a pidfd (-1: there is none) holds on to; it is closed with it.
 */
void entry_know(struct program *program, uint32_t index, pid_t pid, int pidfd);

/* It is watched no longer: the entry is free if it has ended. */
void entry_leave(struct program *program, uint32_t index);

/* Its process has ended, or executed another program. */
void entry_release(struct program *program, uint32_t index);

/* Whose it is, as far as we hold on to it; 0: nobody's. */
pid_t entry_process(const struct program *program, uint32_t index);

/* Frees those of processes that have ended, but for those that are watched: their end is told
 * first.
 */
void entries_check(struct program *program);
/* The same, and whoever is not held on to is looked for now, whosever turn it is. */
void entries_check_all(struct program *program);

/* Are so many taken that the next process may find none? */
bool entries_are_scarce(const struct program *program);

#endif
