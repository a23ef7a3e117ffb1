/* SPDX-License-Identifier: Apache-2.0 */
#include "region/lost.h"

#include "base/counters.h"

void region_note_lost(size_t count, bool frozen)
{
	counter_add(frozen ? COUNTER_REGIONS_FROZEN : COUNTER_REGIONS_ENDED, count);
}
