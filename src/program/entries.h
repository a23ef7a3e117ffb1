/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of the area, one for each process. A process claims one by writing its own id (pid)
 * into a free one, and keeps it until it has ended, watched or not: its threads may still be
 * writing hits in the entry's name. Only then is the entry given to another process, whatever state
 * it is in, and records that the process had begun to write are taken back.
 */
#ifndef PROGRAM_ENTRIES_H
#define PROGRAM_ENTRIES_H

#include "program/program.h"

struct entries;

int entries_create(struct program *program);
void entries_destroy(struct program *program);

/* Tells the process what has become of its entry. */
void entry_answer(struct area_process *shared, enum area_process_state state);
/* Tells the process that it is watched. If it has taken its leave since it announced itself, and
 * waits until its events are gone, its entry says so already and stays as it is. */
void entry_answer_announced(struct area_process *shared);

/* The number of processes that are watched or ask to be. */
unsigned entries_waiting(struct program *program);

/* Notes the process behind an entry. A pidfd (-1: there is none) keeps its id from being reused; it
 * is closed with the entry. */
void entry_know(struct program *program, uint32_t index, pid_t pid, int pidfd);

/* The process is no longer watched: its entry is freed if the process has ended. */
void entry_leave(struct program *program, uint32_t index);

/* The entry's process has ended or executed another program: frees the entry. */
void entry_release(struct program *program, uint32_t index);

/* The process whose entry it is, if a pidfd keeps its id; 0: none is known. */
pid_t entry_process(const struct program *program, uint32_t index);

/* Frees the entries of processes that have ended. Watched ones are left out: the controller handles
 * their end first. */
void entries_check(struct program *program);
/* Does the same, and looks now for every process that no pidfd is held of, not only for those whose
 * turn it is. */
void entries_check_all(struct program *program);

/* Are so many entries taken that the next process may find none? */
bool entries_are_scarce(const struct program *program);

#endif
