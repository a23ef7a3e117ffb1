/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/spreading.h"

#include <string.h>

bool spreading_is_new(uint64_t address)
{
	return address - BLOCKS < BLOCKS_MOST * BLOCK_SIZE;
}

/* Walking whole loops: the bytes are known already, or go on where those of the same instruction
 * end, so that a walk along an array is one access. */
static bool joins(struct ahead_access *known, const struct ahead_access *found)
{
	if (known->access != found->access || known->phase != found->phase ||
	    memcmp(known->lock, found->lock, sizeof(known->lock)))
		return false;
	if (found->address >= known->address &&
	    found->address + found->length <= known->address + known->length)
		return true;
	if (known->pc != found->pc || !known->whole)
		return false;
	if (found->address + found->length == known->address)
		known->address = found->address;
	else if (known->address + known->length != found->address)
		return false;
	known->length += found->length;
	return true;
}

void spreading_find(struct spreading *spreading, uint64_t pc, uint64_t address, uint64_t length,
		    unsigned access)
{
	struct ahead_view *view = spreading->view;
	struct ahead_access found = {.pc = pc,
				     .address = address,
				     .length = length,
				     .access = access,
				     .phase = spreading->path.phase,
				     .whole = spreading->whole};

	if ((address < spreading->tour && address + CALLEES >= spreading->tour) ||
	    spreading_is_new(address))
		return;
	memcpy(found.lock, spreading->path.lock, sizeof(found.lock));
	for (unsigned i = view->accesses; i && spreading->whole; i--)
		if (joins(&view->access[i - 1], &found))
			return;
	if (view->accesses < AHEAD_ACCESSES)
		view->access[view->accesses++] = found;
}
