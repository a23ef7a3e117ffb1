/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults in the pages that blocks have to themselves. A thread of ours takes each from the kernel
 * and fills at once what is no error: a run that a block is made on, and what somebody outside the
 * program reads. The others wait for the tool, which watches the bytes and then fills the page: the
 * access is made and trips the watch. Another thread fills the runs that the program asks for.
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

/* `wake` is called by the thread when there is something to take. `bell`: of tl_guard_faults, the
 * same for all processes. NULL: no memory, no thread. */
struct pages *pages_start(uint32_t *bell, void (*wake)(void *context), void *context);
void pages_stop(struct pages *pages);
/* Threads of our own again, where this process is a copy of the one that had them.
 * Where there can be none no fault waits for anybody. */
void pages_go_on(struct pages *pages);

/* Takes the descriptor over. */
void pages_add(struct pages *pages, pid_t pid, const struct tl_guard_faults *faults);
void pages_drop(struct pages *pages, pid_t pid);

/* The next fault that waits; false: there is none. */
bool pages_next(struct pages *pages, struct pages_fault *fault);
/* Pages that were filled without a look since this was last asked: somebody outside the program
 * read them, or too many threads waited. An access to them later is not seen. */
unsigned pages_unseen(struct pages *pages);
/* The page around the fault gets these bytes, and who waits for it goes on. */
void pages_fill(const struct pages_fault *fault, const void *bytes);

#endif
