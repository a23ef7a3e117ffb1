/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults in the pages that blocks have to themselves. Two threads of our own run here. One takes
 * each fault from the kernel and at once fills what is no error: a run that a block is being made
 * on, and what somebody outside the program reads. All other faults wait for the controller's
 * thread, which has the tool watch the bytes and then fills the page, so that the access is made
 * and trips the watch. The second thread fills the runs that the program asks for. All functions
 * here are called by the controller's thread.
 */
#ifndef HEAP_PAGES_H
#define HEAP_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <trapline/tool.h>

struct pages;

struct pages_fault {
	pid_t pid, tid;
	uint64_t address;
	int descriptor;
	bool write;
};

/* Starts the threads. The first one calls `wake` when a fault waits. `bell`: that of
 * tl_guard_faults, which is the same for all processes. NULL: there is no memory, or no thread
 * could be made. */
struct pages *pages_start(uint32_t *bell, void (*wake)(void *context), void *context);
void pages_stop(struct pages *pages);
/* Starts the threads again in a process that was forked from the one that had them. Where that
 * fails no fault is waited for. */
void pages_go_on(struct pages *pages);

/* Takes the descriptor over. */
void pages_add(struct pages *pages, pid_t pid, const struct tl_guard_faults *faults);
void pages_drop(struct pages *pages, pid_t pid);

/* The next fault that waits; false: there is none. */
bool pages_next(struct pages *pages, struct pages_fault *fault);
/* How many pages were filled unseen since the last call: somebody outside the program read them, or
 * too many threads waited. Later accesses to these pages are not seen. */
unsigned pages_unseen(struct pages *pages);
/* Fills the page around the fault with these bytes; whoever waits for it goes on. */
void pages_fill(const struct pages_fault *fault, const void *bytes);

#endif
