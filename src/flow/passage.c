/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/passage.h"

void flow_passage_forget(struct flow_passage *passage)
{
	*passage = (struct flow_passage){0};
}

void flow_passage_store(struct flow_passage *passage, const struct flow_store *store)
{
	passage->last = *store;
	passage->stores++;
}

bool flow_passage_read(struct flow_passage *passage, uint64_t thread)
{
	bool strayed = passage->origin.known && !passage->arrived && passage->thread == thread &&
		       passage->number != passage->stores;

	if (!passage->last.known) {
		passage->stage = FLOW_PASSAGE_NONE;
		passage->origin.known = false;
		return false;
	}
	if (passage->number != passage->stores)
		passage->arrived = false;
	passage->number = passage->stores;
	passage->origin = passage->last;
	passage->stage = FLOW_PASSAGE_READ;
	passage->thread = thread;
	return strayed;
}

void flow_passage_drop(struct flow_passage *passage, uint64_t thread)
{
	if (passage->stage == FLOW_PASSAGE_READ && passage->thread == thread)
		passage->stage = FLOW_PASSAGE_NONE;
}

void flow_passage_next_store(struct flow_passage *passage, uint64_t thread, bool follows, bool same)
{
	if (follows && same && passage->stage == FLOW_PASSAGE_STORED && passage->thread == thread)
		return;
	passage->stage = follows && passage->stage == FLOW_PASSAGE_READ && passage->thread == thread
				 ? FLOW_PASSAGE_STORED
				 : FLOW_PASSAGE_NONE;
}

void flow_passage_next_read(struct flow_passage *passage, uint64_t thread)
{
	if (passage->stage == FLOW_PASSAGE_STORED && passage->thread == thread)
		passage->stage = FLOW_PASSAGE_TAKEN;
}

bool flow_passage_arrive(struct flow_passage *passage, uint64_t thread, bool through)
{
	enum flow_passage_stage wanted = through ? FLOW_PASSAGE_TAKEN : FLOW_PASSAGE_READ;
	bool first = passage->stage == wanted && passage->thread == thread && !passage->arrived;

	if (passage->thread == thread)
		passage->stage = FLOW_PASSAGE_NONE;
	passage->arrived |= first;
	return first;
}

bool flow_passage_overwrite(struct flow_passage *passage)
{
	bool was = passage->waiting.known;

	passage->waiting.known = false;
	return was;
}

void flow_passage_wait(struct flow_passage *passage)
{
	passage->waiting = passage->origin;
}

bool flow_passage_goal_read(struct flow_passage *passage)
{
	return flow_passage_overwrite(passage);
}
