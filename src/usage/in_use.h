/* SPDX-License-Identifier: Apache-2.0 */
/* Which code is in use, and by which thread: instructions to watch are chosen from it. */
#ifndef USAGE_IN_USE_H
#define USAGE_IN_USE_H

#include "usage/usage.h"

/* Is there code at `pc`, of a module that the options include, and not of the C library? */
bool code_is_interesting(struct target *target, uint64_t pc);
/* The sites that this background thread was seen at; for any other thread, those of all others
 * together. */
struct sites *code_sites(struct target *target, pid_t tid);
/* The same for the starts of stretches of code in which the thread waits for no other thread. */
struct sites *code_starts(struct target *target, pid_t tid);
/* Notes that the thread was seen to run code at `pc`. */
void code_note(struct target *target, pid_t tid, uint64_t pc);
/* Notes what a background thread will return to, if it sleeps. */
void code_look_at(struct target *target, struct background_thread *thread);
/* Where a thread that sleeps now, or one of its callers, will go on; 0: no thread sleeps. */
uint64_t code_wake(struct target *target);
/* Notes what a few sleeping threads, drawn at random, will return to. */
void code_look(struct target *target);
/* A thread has hit a chosen instruction: notes its site, the function that it is about to call, and
 * of a background thread the callers. */
void code_came(struct target *target, const struct hit *hit);
/* Notes that another thread came to what the instruction at `pc` accesses, or that this memory
 * changed under a thread that was held there. Code of the C library is not noted. */
void code_contended(struct target *target, uint64_t pc, pid_t tid);
void code_foreseen(struct target *target, uint64_t pc, pid_t tid, uint64_t other);
void code_changed(struct target *target, uint64_t pc, pid_t tid);
/* The background thread with this id; NULL: it is not known as one. */
struct background_thread *background_find(struct target *target, pid_t tid);

#endif
