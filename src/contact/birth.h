/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are created, told to the controller while it wishes so (struct area_births): who
 * begins, before its first instruction, and who created it, before pthread_create() returns. Either
 * waits until the controller lets it go, AREA_BIRTH_WAIT at most. Never told by a signal handler.
 */
#ifndef CONTACT_BIRTH_H
#define CONTACT_BIRTH_H

#include "record/area.h"

/* A record that waits to be taken back. */
struct agent_birth {
	struct area_process *process;
	struct area_hit *record;
	uint64_t ticket;
};

/* Is a thread that begins `start` to be told of? Asked once of each, which is counted. */
bool agent_birth_is_wanted(uint64_t start);
/* One that was wanted is not told of all the same. */
void agent_birth_pass(void);
/* Until the word, a futex of this process's, is not 0 any more, AREA_BIRTH_WAIT at most. What it is
 * afterwards. */
bool agent_birth_await(uint32_t *word);
/* `kind`: one of AREA_HIT_BIRTH. False: nothing was told, and nothing is to be waited for. */
bool agent_birth_tell(uint32_t kind, const struct area_registers *registers,
		      struct agent_birth *birth);
void agent_birth_wait(const struct agent_birth *birth);

#endif
