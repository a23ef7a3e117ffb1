/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alternate stacks (sigaltstack(2)) on which a hit would kill. While a handler of the program's
 * runs on one, the frame of SIGTRAP goes below on the same stack; where it does not fit the kernel
 * ends the thread with SIGSEGV (get_sigframe() of arch/x86/kernel/signal.c). Nobody tells from
 * outside how large a thread's alternate stack is: the thread is asked, stopped as for other calls.
 *
 * Only programs with a handler that a hit may come within are asked: one that runs on alternate
 * stacks (SA_ONSTACK) and does not block SIGTRAP meanwhile. And those in which our own handler runs
 * there (inject/actions.h). Of the others no thread is stopped.
 *
 * Accepted: a hit within handlers of faults (SIGSEGV and the like), which a thread runs for what it
 * does itself, counts for nothing: runtimes give every thread a small stack for them and seldom
 * come there. A thread that takes a smaller stack after it was asked, or an action that changes
 * while its signal is caught all the time, is not seen.
 */
#ifndef INJECT_STACKS_H
#define INJECT_STACKS_H

#include "event/threads.h"
#include "inject/inject.h"

struct inject_stacks {
	uint64_t asked; /* signals whose actions are known, as a mask */
	bool exposed;	/* some handler runs on alternate stacks; the rest says nothing else */
	bool nested;	/* a frame of ours may come upon one of the program's signals */
	struct thread_set roomy, cramped;
	unsigned version; /* counts the changes of `roomy` */
	unsigned found;	  /* threads that were found cramped at any time */
};

/* Looks at what is new in the process since the last look: signals that it catches, and threads.
 * What cannot be asked now is asked at the next look. Stops threads for a fraction of a
 * millisecond. */
void inject_stacks_look(struct injection *injection, struct inject_stacks *stacks);

/* May an event with a signal be open in the thread? */
bool inject_stacks_allow(const struct inject_stacks *stacks, pid_t tid);

void inject_stacks_destroy(struct inject_stacks *stacks);

#endif
