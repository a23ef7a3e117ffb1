/* SPDX-License-Identifier: Apache-2.0 */
#include "base/counters.h"

#include <trapline/stats.h>

size_t tl_stats_count(void)
{
	return COUNTER_COUNT;
}

const char *tl_stats_name(size_t index)
{
	return counter_name((enum counter)index);
}

uint64_t tl_stats_value(size_t index)
{
	return counter_value((enum counter)index);
}
