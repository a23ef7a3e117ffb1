/* SPDX-License-Identifier: Apache-2.0 */
/* Code in use, and by which thread: what instructions to watch are chosen from. */
#ifndef USAGE_IN_USE_H
#define USAGE_IN_USE_H

#include "usage/usage.h"

/* Is there code of the program that it wants to be looked at? */
bool code_is_interesting(struct target *target, uint64_t pc);
/* The sites that a background thread was seen at; of any other thread, those of all others. */
struct sites *code_sites(struct target *target, pid_t tid);
/* The same, where stretches of code begin in which it waits for no other thread. */
struct sites *code_starts(struct target *target, pid_t tid);
/* The thread was seen to run code at `pc`. */
void code_note(struct target *target, pid_t tid, uint64_t pc);
/* Notes what a background thread will return to, if it sleeps. */
void code_look_at(struct target *target, struct background_thread *thread);
/* Where some thread that sleeps now will go on, or one of its callers; 0: none sleeps. */
uint64_t code_wake(struct target *target);
/* Notes what a few sleeping threads, drawn, will return to. */
void code_look(struct target *target);
/* A thread has come to a chosen instruction: its site is noted, the function that it is about to
 * call, and of a background thread the callers. */
void code_came(struct target *target, const struct hit *hit);
/* Another thread came to what the instruction accesses; its memory changed under a thread that was
 * held there. Nothing of the C library is remembered. */
void code_contended(struct target *target, uint64_t pc, pid_t tid);
void code_foreseen(struct target *target, uint64_t pc, pid_t tid, uint64_t other);
void code_changed(struct target *target, uint64_t pc, pid_t tid);
/* NULL: it is none of those that seldom wake. */
struct background_thread *background_find(struct target *target, pid_t tid);

#endif
