/* SPDX-License-Identifier: Apache-2.0 */
/* Which hits of lasting watches are sent out of the program: record/filter.h asked in a handler. */
#ifndef HANDLER_CHOOSE_H
#define HANDLER_CHOOSE_H

#include "record/area.h"

#include <ucontext.h>

struct agent_choice {
	struct filter_place *place; /* where it is counted when it cannot be sent; NULL: nowhere */
	uint64_t number;	    /* 0: the controller numbers it, when it has seen what it is */
	uint64_t value_address;
	uint32_t value_length;
	bool before_known;
	uint64_t before;
	uint8_t value[AREA_VALUE];
};

/*
 * True: it is to be sent. Else it has been counted, as refused or at its place. `address`: of the
 * data touched, as the kernel told it; 0: the hit is late, and where the thread is and what is in
 * memory now says nothing about it. Async-signal-safe.
 */
bool agent_choose(struct area_process *process, uint32_t slot, uint64_t address,
		  const ucontext_t *context, uint64_t now, struct agent_choice *choice);

#endif
