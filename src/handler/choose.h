/* SPDX-License-Identifier: Apache-2.0 */
/* Decides in the handler which hits of lasting watches are sent to the controller, by the filter of
 * record/filter.h. The rest is counted, so that a watchpoint that is hit all the time does not fill
 * the area. */
#ifndef HANDLER_CHOOSE_H
#define HANDLER_CHOOSE_H

#include "record/area.h"

#include <ucontext.h>

struct agent_choice {
	/* where the hit is counted when it cannot be sent; NULL: nowhere */
	struct filter_place *place;
	/* of the hit among those that passed the filter; 0: the controller counts it, once it knows
	 * what the hit is */
	uint64_t number;
	uint64_t value_address;
	uint32_t value_length;
	bool before_known;
	uint64_t before;
	uint8_t value[AREA_VALUE];
};

/*
 * True: the hit is to be sent. False: it has been counted, as refused or at its place. `address`:
 * of the data touched, as the kernel told it; 0: the signal was late, so the thread's registers and
 * the memory are no longer those of the access. Async-signal-safe.
 */
bool agent_choose(struct area_process *process, uint32_t slot, uint64_t address,
		  const ucontext_t *context, uint64_t now, struct agent_choice *choice);

#endif
