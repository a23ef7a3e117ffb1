/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices: what the controller must see to before the thread that tells of it goes on. Never given
 * by a signal handler.
 */
#ifndef CONTACT_NOTICE_H
#define CONTACT_NOTICE_H

#include "record/area.h"

/* Tell the controller what it asked to be told (`kind`: one of AREA_HIT_NOTICE) and wait, bounded,
 * until it has seen to it. */
void agent_notice(uint32_t kind, uint64_t address, uint64_t size,
		  const struct area_registers *registers);

/* The same at or about a guarded block: record/guard.h. */
struct agent_guard_notice {
	uint32_t event;	  /* enum guard_event */
	uint64_t address; /* as the program has it */
	uint64_t block;	  /* the guarded block's; 0: none */
	int64_t offset;
	uint32_t length;
	uint64_t word, serial;		   /* of the block, … */
	const struct guard_record *record; /* … and what is known of it; NULL: nothing */
	const _Atomic uint64_t *entry;	   /* where the word stands */
};
bool agent_notice_guard(const struct agent_guard_notice *notice,
			const struct area_registers *registers);

#endif
