/* SPDX-License-Identifier: Apache-2.0 */
#include "allocation/watched.h"

#include "agent/state.h"

#define WIDEST 8u /* bytes of a slot that says no length */

bool agent_is_watched(uint64_t from, uint64_t to)
{
	const struct area_process *process = agent_state.process;

	for (unsigned i = 0; process && i < AREA_WATCHES; i++) {
		uint64_t address = __atomic_load_n(&process->slot[i].address, __ATOMIC_RELAXED);
		uint64_t length = __atomic_load_n(&process->slot[i].length, __ATOMIC_RELAXED);

		if (address < to && from < address + (length > WIDEST ? length : WIDEST))
			return true;
	}
	return false;
}
