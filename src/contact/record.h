/* SPDX-License-Identifier: Apache-2.0 */
/* What every record says by which a thread tells of itself rather than of a hit: notices, births.
 */
#ifndef CONTACT_RECORD_H
#define CONTACT_RECORD_H

#include "agent/state.h"
#include "base/syscall.h"

/* Fills in who tells (the calling thread), when and with which registers, and that neither a value
 * nor a stack nor a thread's name was noted. What else the record says is left to the caller.
 * `kind`: one of AREA_HIT_NOTICE or AREA_HIT_BIRTH. Makes one system call, gettid(2). */
static inline void record_fill(struct area_hit *record, uint32_t kind,
			       const struct area_registers *registers)
{
	record->entry_time = agent_now();
	record->process = agent_state.index;
	record->slot = 0;
	record->generation = 0;
	record->tid = raw_gettid();
	record->identity = (uint64_t)record->tid;
	record->flags = kind;
	record->registers = *registers;
	record->value_length = record->stack_length = 0;
	record->value_address = record->stack_address = 0;
	record->thread[0] = '\0';
}

#endif
