/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the controller. It may be dead: then no wait lasts longer than a slice, and no later
 * one begins. It may be stopped (SIGSTOP), or kept off every CPU: then it sleeps on although it was
 * rung, which ends the wait after a second. It may be busy, with symbols say: that is waited for up
 * to the bound. After a wait in vain nobody else waits until the controller shows itself again.
 */
#ifndef CONTACT_PATIENCE_H
#define CONTACT_PATIENCE_H

#include "record/area.h"

#include <stdbool.h>
#include <stdint.h>

#define PATIENCE_SLICE 20000000 /* ns */

struct patience {
	uint64_t until;	 /* CLOCK_MONOTONIC ns */
	unsigned asleep; /* slices through which the controller has slept */
	bool firm;
};

/* Does the controller answer no more? */
bool agent_has_gone(const struct area *area);

/* `bound`: ns. */
struct patience patience_begin(uint64_t bound);
/* For what must not happen before the controller has answered: whether somebody else waited in vain
 * makes no difference. */
struct patience patience_begin_firm(uint64_t bound);

/* May it be waited for once more? */
bool patience_goes_on(const struct patience *patience);

/* Sleep until the futex is woken, no longer holds `seen`, or a slice is over. False: the wait is
 * over, without an answer. Async-signal-safe. */
bool patience_wait(struct patience *patience, _Atomic uint32_t *word, uint32_t seen);

#endif
