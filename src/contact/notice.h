/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices: events that the controller must deal with before the thread that tells of them goes on.
 * Never given in a signal handler.
 */
#ifndef CONTACT_NOTICE_H
#define CONTACT_NOTICE_H

#include "record/area.h"

/* Tells the controller of an event that it asked for (`kind`: one of AREA_HIT_NOTICE) and waits,
 * bounded, until it has dealt with it. */
void agent_notice(uint32_t kind, uint64_t address, uint64_t size,
		  const struct area_registers *registers);

/* The same about a guarded block: record/guard.h. */
struct agent_guard_notice {
	uint32_t event;	  /* enum guard_event */
	uint64_t address; /* as the program has it */
	uint64_t block;	  /* the guarded block's; 0: none */
	int64_t offset;
	uint32_t length;
	uint64_t word, serial;		   /* of the block, … */
	const struct guard_record *record; /* … and what is known of it; NULL: nothing */
	const _Atomic uint64_t *entry;	   /* where the word stands */
	bool kept; /* of the registers those are known that a call leaves as they are */
};
bool agent_notice_guard(const struct agent_guard_notice *notice,
			const struct area_registers *registers);

#endif
