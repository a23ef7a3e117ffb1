/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/onward.h"

void flow_onward_forget(struct flow_onward *onward, bool filled)
{
	*onward = (struct flow_onward){.filled = filled};
}

static void take(pid_t *taker, pid_t tid, bool value)
{
	if (value)
		*taker = tid;
	else if (*taker == tid)
		*taker = 0;
}

void flow_onward_origin_read(struct flow_onward *onward, pid_t tid, bool through)
{
	take(through ? &onward->carried : &onward->taken, tid, onward->filled);
}

void flow_onward_next_store(struct flow_onward *onward, pid_t tid, bool follows, bool once)
{
	onward->passing = follows && onward->carried == tid;
	if (follows && once)
		take(&onward->carried, tid, false);
}

void flow_onward_next_read(struct flow_onward *onward, pid_t tid)
{
	take(&onward->taken, tid, onward->passing);
}

void flow_onward_drop(struct flow_onward *onward, pid_t tid)
{
	take(&onward->taken, tid, false);
}

bool flow_onward_arrive(struct flow_onward *onward, pid_t tid, bool filler, bool same, bool once)
{
	bool settled = onward->settled;

	onward->holds = filler && same && onward->taken == tid;
	onward->settled = true;
	if (filler && once)
		take(&onward->taken, tid, false);
	return filler && !onward->holds && settled;
}
