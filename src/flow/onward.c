/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/onward.h"

void flow_onward_forget(struct flow_onward *onward, bool filled)
{
	*onward = (struct flow_onward){.filled = filled};
}

static void take(uint64_t *taker, uint64_t thread, bool value)
{
	if (value)
		*taker = thread;
	else if (*taker == thread)
		*taker = 0;
}

void flow_onward_origin_read(struct flow_onward *onward, uint64_t thread, bool through)
{
	take(through ? &onward->carried : &onward->taken, thread, onward->filled);
}

void flow_onward_next_store(struct flow_onward *onward, uint64_t thread, bool follows, bool once)
{
	onward->passing = follows && onward->carried == thread;
	if (follows && once)
		take(&onward->carried, thread, false);
}

void flow_onward_next_read(struct flow_onward *onward, uint64_t thread)
{
	take(&onward->taken, thread, onward->passing);
}

void flow_onward_drop(struct flow_onward *onward, uint64_t thread)
{
	take(&onward->taken, thread, false);
}

bool flow_onward_arrive(struct flow_onward *onward, uint64_t thread, bool filler, bool same,
			bool once)
{
	bool settled = onward->settled;

	onward->holds = filler && same && onward->taken == thread;
	onward->settled = true;
	if (filler && once)
		take(&onward->taken, thread, false);
	return filler && !onward->holds && settled;
}
