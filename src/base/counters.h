/* SPDX-License-Identifier: Apache-2.0 */
/* Named counts. Adding is async-signal-safe and never fails. */
#ifndef BASE_COUNTERS_H
#define BASE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

enum counter {
#define COUNTER(identifier, name, meaning) COUNTER_##identifier,
#include "base/counters.def"
#undef COUNTER
	COUNTER_COUNT
};

struct counters {
	uint64_t value[COUNTER_COUNT];
};

extern struct counters base_counters;

static inline void counter_add(enum counter counter, uint64_t amount)
{
	__atomic_fetch_add(&base_counters.value[counter], amount, __ATOMIC_RELAXED);
}

static inline void counter_increment(enum counter counter)
{
	counter_add(counter, 1);
}

uint64_t counter_value(enum counter counter);
const char *counter_name(enum counter counter); /* static text; NULL past the end */

#endif
