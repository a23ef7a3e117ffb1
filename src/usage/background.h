/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Background threads: those that seldom wake, beside others that do all the time. And which single
 * thread may be held next, where slots are in one thread alone (target/transient.h).
 */
#ifndef USAGE_BACKGROUND_H
#define USAGE_BACKGROUND_H

#include "usage/usage.h"

/* After each census. */
void background_look(struct target *target);
/* A thread that may be held and has no slot. NULL: none; single_next() says when there may be. */
const struct thread_rate *single_choose(struct target *target, uint64_t now);
/* CLOCK_MONOTONIC, ns; UINT64_MAX: not before threads have slots no more, or a census. */
uint64_t single_next(const struct target *target);
/* This one, if it may be and has none. */
const struct thread_rate *single_find(struct target *target, pid_t tid, uint64_t now);
/* Is it one of those that slots may be in alone? */
bool single_is_known(const struct target *target, pid_t tid);
/* ns of a hold that the thread can have saved up for twice over. */
uint64_t single_hold(const struct target *target, const struct thread_rate *thread);

#endif
