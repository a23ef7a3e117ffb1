/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the controller, by its possible states. Dead: no wait lasts longer than a slice, and
 * no later one begins. Stopped (SIGSTOP) or kept off every CPU: it does not wake although it was
 * rung, which ends the wait after a second. Busy, for example reading symbols: it is waited for up
 * to the bound. After a wait that ended without an answer no other thread waits until the
 * controller wakes again.
 */
#ifndef CONTACT_PATIENCE_H
#define CONTACT_PATIENCE_H

#include "record/area.h"

#include <stdbool.h>
#include <stdint.h>

#define PATIENCE_SLICE 20000000 /* ns */

struct patience {
	uint64_t until;	 /* CLOCK_MONOTONIC ns */
	unsigned asleep; /* slices after which the controller had not woken */
	bool firm;
};

/* Is the controller dead? */
bool agent_has_gone(const struct area *area);

/* Begins a wait of at most `bound` ns. */
struct patience patience_begin(uint64_t bound);
/* The same for what must not happen before the controller has answered: another thread's wait in
 * vain does not shorten it. */
struct patience patience_begin_firm(uint64_t bound);

/* May the thread wait once more? */
bool patience_goes_on(const struct patience *patience);

/* Sleep until the futex is woken, no longer holds `seen`, or a slice is over. False: the wait is
 * over, without an answer. Async-signal-safe. */
bool patience_wait(struct patience *patience, _Atomic uint32_t *word, uint32_t seen);

#endif
