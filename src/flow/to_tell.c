/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that `trapline flow to` has found, as findings. */
#include "flow/to.h"

#include "flow/step.h"
#include "traffic/tell.h"

#include <stdio.h>

/* With the function that stores and the line. */
static const char *why_unanswered(const struct flow_spot_of_value *spot)
{
	if (spot->state != FLOW_VALUE_KNOWN)
		return "not followed: the store by %.48s, line %u, was not seen after the load";
	return spot->framed ? "stored by %.48s, line %u, where no code was seen to read it (what "
			      "system calls read there is not seen)"
			    : "stored by %.48s, line %u, where nobody was seen to read it";
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
	snprintf(text, FLOW_DETAIL_TEXT, why_unanswered(spot),
		 count > 0 && frames[0].function ? frames[0].function : "?",
		 count > 0 ? frames[0].line : 0);
	return true;
}

static bool fill_step(const void *state, uint32_t index, struct flow_step *step)
{
	const struct flow_goals *goals = state;
	const struct flow_reader *reader = &goals->reader[index];
	const struct flow_spot_of_value *spot = &goals->spot[reader->spot];

	*step = (struct flow_step){.access = TL_READ | (reader->kernel ? TL_KERNEL : 0),
				   .pc = reader->pc,
				   .place = reader->place,
				   .way = &reader->way,
				   .parent = spot->reader,
				   .repeats = reader->repeats,
				   .count = reader->count,
				   .confirmed = spot->confirmed,
				   .pid = spot->pid,
				   .address = spot->address,
				   .length = spot->length,
				   .other = spot->filler,
				   .context = spot->context};
	return !flow_goals_is_void(goals, index);
}

void flow_to_tell(struct flow_goals *goals)
{
	flow_steps_tell(&(struct flow_steps){.tree = goals,
					     .places = &goals->tree.places,
					     .nodes = goals->readers,
					     .items = goals->spots,
					     .step = fill_step,
					     .end = end_of_use});
}
