/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that share this memory and have signals of their own: a vfork()ed child until it
 * executes, posix_spawn()'s, clone(CLONE_VM) without CLONE_SIGHAND. What is kept here of the
 * program's dispositions and masks is its owner's, and such a child must leave it as it is: the
 * kernel alone keeps the child's. One with CLONE_SIGHAND and without CLONE_THREAD shares the
 * dispositions, but its mask is its own, and it may share the thread-local storage that its
 * creator's is kept in.
 */
#ifndef SIGNAL_BORROWER_H
#define SIGNAL_BORROWER_H

#include <stdbool.h>

/* This process keeps its signals here; in a forked child before it makes any of its own.
 * Async-signal-safe. */
void borrower_begin(void);

/* A process is about to be made that shares this memory and its signals: whoever shares the memory
 * counts as the owner from then on. */
void borrower_share(void);

/* A seccomp filter of the program's forbids getpid(2): nobody counts as such a child any more. */
void borrower_forbid_asking(void);

/* Is the caller such a child? False before borrower_begin(). Async-signal-safe; one getpid(2). */
bool borrower_is(void);

/* Is the caller a child that shares this memory, whether it shares the dispositions or not? The
 * same costs. */
bool borrower_has_mask(void);

#endif
