/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that `trapline flow to` has found, as findings. */
#include "flow/to.h"

#include "flow/tell.h"

#include <stdio.h>

/* Nodes that are the same code and read from the same store are one finding. */
static uint32_t node_of(const struct flow_goals *goals, uint32_t reader)
{
	uint64_t filler = goals->spot[goals->reader[reader].spot].filler;

	for (uint32_t i = 0; i < reader; i++)
		if (!flow_goals_is_void(goals, i) &&
		    goals->reader[i].pc == goals->reader[reader].pc &&
		    goals->spot[goals->reader[i].spot].filler == filler)
			return i;
	return reader;
}

/* What of the reader's uses is no further spot, or has no answer. */
static bool end_of_use(void *state, uint32_t reader, uint32_t index, char *text)
{
	static struct tl_frame frames[16];
	const struct flow_goals *goals = state;
	const struct flow_spot_of_value *spot = &goals->spot[index];
	int count;

	if (spot->reader != reader || spot->confirmed)
		return false;
	if (spot->state == FLOW_VALUE_ENDED) {
		snprintf(text, FLOW_DETAIL_TEXT, "%s", spot->end);
		return true;
	}
	count = goals->tree.services->symbolise(goals->tree.host, spot->pid, spot->filler, frames,
						16);
	snprintf(text, FLOW_DETAIL_TEXT,
		 spot->state == FLOW_VALUE_KNOWN
			 ? "stored by %.48s, line %u, where nobody was seen to read it"
			 : "not followed: the store by %.48s, line %u, was not seen after the load",
		 count > 0 && frames[0].function ? frames[0].function : "?",
		 count > 0 ? frames[0].line : 0);
	return true;
}

void flow_to_tell(struct flow_goals *goals, uint32_t index)
{
	const struct flow_reader *reader = &goals->reader[index];
	const struct flow_spot_of_value *spot = &goals->spot[reader->spot];
	struct flow_finding finding = {.kind = "flow-step", .rank = index + 1};
	const uint64_t store[2] = {spot->filler, spot->context};
	uint32_t filler;

	if (reader->place == FLOW_NOWHERE || flow_goals_is_void(goals, index) ||
	    node_of(goals, index) != index)
		return;
	flow_add_place(&finding, &goals->tree.places.place[reader->place],
		       TL_READ | (reader->kernel ? TL_KERNEL : 0), spot->address, spot->length);
	finding.access[0].tid = reader->way.tid;
	flow_add_stack(&finding, reader->way.pc, reader->way.count);
	filler = spot->filler ? flow_place_find(&goals->tree.places, spot->pid, spot->filler)
			      : FLOW_NOWHERE;
	if (filler != FLOW_NOWHERE) {
		flow_add_place(&finding, &goals->tree.places.place[filler], TL_WRITE, spot->address,
			       spot->length);
		flow_add_stack(&finding, store, spot->context ? 2 : 1);
	}
	flow_detail(&finding, "node", "%u", index);
	if (spot->reader != FLOW_NONE)
		flow_detail(&finding, "parent", "%u", node_of(goals, spot->reader));
	flow_detail(&finding, "percent", "%.1f",
		    spot->confirmed ? 100 * (double)reader->count / (double)spot->confirmed : 0);
	flow_detail(&finding, "seen", "%llu", (unsigned long long)reader->count);
	flow_detail(&finding, "address", "0x%llx", (unsigned long long)spot->address);
	if (reader->repeats != FLOW_NONE)
		flow_detail(&finding, "repeats", "%u", node_of(goals, reader->repeats));
	else
		flow_add_ends(&finding, goals, index, goals->spots, end_of_use);
	flow_tell(goals->tree.host, goals->tree.services, &finding);
}
