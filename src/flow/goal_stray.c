/* SPDX-License-Identifier: Apache-2.0 */
/* Spots that values of several origins pass through. */
#include "flow/goal_tree.h"

uint32_t flow_goals_origin(const struct flow_goals *goals, uint32_t spot, uint32_t *below)
{
	uint32_t above;

	for (;;) {
		*below = spot;
		above = goals->reader[goals->spot[spot].reader].spot;
		if (goals->spot[above].strayed < FLOW_STRAYED ||
		    goals->spot[above].reader == FLOW_NONE)
			return above;
		spot = above;
	}
}

/* What had been found behind the readers of the spot is asked again. */
static void revoke_below(struct flow_goals *goals, uint32_t above)
{
	for (uint32_t i = 0; i < goals->spots; i++) {
		struct flow_spot_of_value *spot = &goals->spot[i];

		if (spot->reader == FLOW_NONE || goals->reader[spot->reader].spot != above)
			continue;
		spot->confirmed = spot->led = spot->visits = 0;
		if (spot->was_sought)
			spot->state = FLOW_VALUE_SOUGHT;
		for (uint32_t j = 0; j < goals->readers; j++)
			if (goals->reader[j].spot == i)
				goals->reader[j].revoked = true;
	}
}

void flow_goals_stray(struct flow_goals *goals, uint32_t spot)
{
	if (++goals->spot[spot].strayed == FLOW_STRAYED)
		revoke_below(goals, spot);
}

bool flow_goals_is_void(const struct flow_goals *goals, uint32_t reader)
{
	while (reader != FLOW_NONE) {
		if (goals->reader[reader].revoked)
			return true;
		reader = goals->spot[goals->reader[reader].spot].reader;
	}
	return false;
}
