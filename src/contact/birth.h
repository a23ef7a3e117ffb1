/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are created, told to the controller while it wishes so (struct area_births). Both
 * threads are told of: the new one before its first instruction, and its creator before
 * pthread_create() returns. Each waits until the controller lets it go, AREA_BIRTH_WAIT at most.
 * Never called in a signal handler.
 */
#ifndef CONTACT_BIRTH_H
#define CONTACT_BIRTH_H

#include "record/area.h"

/* A record in which a thread has been told of, until the controller has taken it back. */
struct agent_birth {
	struct area_process *process;
	struct area_hit *record;
	uint64_t ticket;
};

/* Is a thread whose function is `start` to be told of? Asked once for each new thread, since each
 * answer is counted. */
bool agent_birth_is_wanted(uint64_t start);
/* Counts a thread that was wanted and is not told of all the same. */
void agent_birth_pass(void);
/* Waits until the word, a futex of this process, is no longer 0, AREA_BIRTH_WAIT at most. Returns
 * its value afterwards. */
bool agent_birth_await(uint32_t *word);
/* Tells the controller of the calling thread. `kind`: one of AREA_HIT_BIRTH. False: nothing was
 * told, and nothing is to be waited for. */
bool agent_birth_tell(uint32_t kind, const struct area_registers *registers,
		      struct agent_birth *birth);
void agent_birth_wait(const struct agent_birth *birth);

#endif
