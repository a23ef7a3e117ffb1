/* SPDX-License-Identifier: Apache-2.0 */
#include "record/aim.h"

#include "base/path.h"

#include "record/utf8.h"

#include <stdio.h>
#include <string.h>

const char *aim_how_name(enum aim_how how)
{
	static const char *const names[] = {[AIM_NOWHERE] = "nowhere",
					    [AIM_BY_OFFSET] = "offset",
					    [AIM_BY_FUNCTION] = "function",
					    [AIM_BY_LINE] = "line",
					    [AIM_BY_BUILD] = "build"};

	return names[how];
}

static bool is_known(const struct aim_list *list, const char *id)
{
	for (unsigned i = 0; i < list->count; i++)
		if (strcmp(list->aim[i].finding->id, id) == 0)
			return true;
	return false;
}

bool aim_add(struct aim_list *list, const struct finding *finding)
{
	struct aim *aim = &list->aim[list->count];

	if (finding->access_count < AIM_SIDES || !finding_place_frame(&finding->accesses[0]) ||
	    !finding_place_frame(&finding->accesses[1])) {
		list->placeless++;
		return false;
	}
	if (is_known(list, finding->id))
		return false;
	if (list->count == AIM_MAX) {
		list->left_out++;
		return false;
	}
	*aim = (struct aim){.finding = finding};
	for (unsigned i = 0; i < AIM_SIDES; i++)
		aim->side[i].access = &finding->accesses[i];
	list->count++;
	return true;
}

void aim_add_before(struct aim_list *list, const char *id, const struct aim_score *score)
{
	for (unsigned i = 0; i < list->count; i++) {
		struct aim_score *before = &list->aim[i].before;

		if (strcmp(list->aim[i].finding->id, id) != 0 || score->meetings > score->chances ||
		    before->chances + score->chances < before->chances)
			continue;
		before->chances += score->chances;
		before->meetings += score->meetings;
	}
}

bool aim_recognise(struct aim_list *list, const struct finding *finding)
{
	bool found = false;

	for (unsigned i = 0; i < list->count; i++) {
		struct aim *aim = &list->aim[i];

		if (strcmp(aim->finding->id, finding->id) != 0 && !(list->current & 1ull << i))
			continue;
		found = true;
		/* Its own id is the better one. */
		if (!aim->again[0] || strcmp(aim->finding->id, finding->id) == 0)
			snprintf(aim->again, sizeof(aim->again), "%s", finding->id);
	}
	return found;
}

static void write_place(const struct finding_access *access, char place[AIM_PLACE_SIZE])
{
	const struct finding_frame *frame = finding_place_frame(access);
	char text[AIM_PLACE_SIZE];

	if (frame->function && frame->file && frame->line)
		snprintf(text, sizeof(text), "%.120s %.100s:%u", frame->function,
			 path_name(frame->file), frame->line);
	else if (frame->function)
		snprintf(text, sizeof(text), "%.200s", frame->function);
	else
		snprintf(text, sizeof(text), "%.200s+0x%llx",
			 frame->module ? path_name(frame->module) : "?",
			 (unsigned long long)frame->offset);
	utf8_escape(place, AIM_PLACE_SIZE, text);
}

void aim_tell(const struct aim *aim, const char *run, struct aim_told *told)
{
	*told = (struct aim_told){.seen = aim->seen, .score = aim->score, .before = aim->before};
	snprintf(told->id, sizeof(told->id), "%s", aim->finding->id);
	snprintf(told->again, sizeof(told->again), "%s", aim->again);
	snprintf(told->run, sizeof(told->run), "%s", run);
	for (unsigned i = 0; i < AIM_SIDES; i++) {
		const struct aim_side *side = &aim->side[i];

		write_place(side->access, told->side[i].place);
		told->side[i].how = side->how;
		told->side[i].line = side->line;
		told->side[i].instructions = side->instructions;
		told->side[i].visits = side->visits;
	}
}

double aim_told_expected(const struct aim_told *told)
{
	if (!told->before.chances)
		return 0;
	return (double)told->score.chances * (double)told->before.meetings /
	       (double)told->before.chances;
}
