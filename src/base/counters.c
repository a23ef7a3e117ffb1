/* SPDX-License-Identifier: Apache-2.0 */
#include "base/counters.h"

struct counters base_counters;

static const char *const names[] = {
#define COUNTER(identifier, name, meaning) [COUNTER_##identifier] = name,
#include "base/counters.def"
#undef COUNTER
};

_Static_assert(sizeof(names) / sizeof(names[0]) == COUNTER_COUNT, "every counter has a name");

uint64_t counter_value(enum counter counter)
{
	if ((unsigned)counter >= COUNTER_COUNT)
		return 0;
	return __atomic_load_n(&base_counters.value[counter], __ATOMIC_RELAXED);
}

const char *counter_name(enum counter counter)
{
	return (unsigned)counter < COUNTER_COUNT ? names[counter] : NULL;
}
