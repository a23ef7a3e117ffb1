/* SPDX-License-Identifier: Apache-2.0 */
/* Code in use, and by which thread: what instructions to watch are chosen from. */
#ifndef EXPLORE_IN_USE_H
#define EXPLORE_IN_USE_H

#include "explore/explorer.h"

/* Is there code of the program that it wants to be looked at? */
bool code_is_interesting(struct target *target, uint64_t pc);
/* Sites of the thread, where it is a background thread; else of all others. */
struct sites *code_sites(struct target *target, pid_t tid);
/* Where regions begin in which it does not wait for others. */
struct sites *code_starts(struct target *target, pid_t tid);
/* Code there is in use by the thread. */
void code_note(struct target *target, pid_t tid, uint64_t pc);
/* In use by one thread: what it will return to, where it sleeps. */
void code_look_at(struct target *target, struct background_thread *thread);
/* Where some thread that sleeps now will go on, or one of its callers; 0: none sleeps. */
uint64_t code_wake(struct target *target);
void code_look(struct target *target); /* at what sleeping threads will do */
/* A thread has come to a chosen instruction: what is around it, others may come to as well. */
void code_came(struct target *target, const struct hit *hit);
/* NULL: it is none of those that seldom wake. */
struct background_thread *background_find(struct target *target, pid_t tid);

#endif
