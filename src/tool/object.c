/* SPDX-License-Identifier: Apache-2.0 */
/* A finding's object as its tool describes it: a block or a frame, and the moments of its life. */
#include "tool/object.h"

#include "control/control.h"
#include "record/finding.h"
#include "tool/complete.h"
#include "tool/host.h"

static void add_moment(struct tl_host *host, struct finding *finding, struct space *space,
		       const struct tl_moment *moment, struct finding_stack *stack)
{
	for (size_t i = 0; space && i < moment->count; i++)
		if (!complete_frames(finding, space, stack, moment->pcs[i], i > 0,
				     host->set->options.raw))
			return;
}

void object_complete(struct tl_host *host, struct finding *finding, const struct tl_report *report)
{
	const struct tl_access *access = report->access_count ? report->accesses[0] : NULL;
	struct space *space = access ? control_space(host->set->control, access->pid) : NULL;
	const struct tl_object *from = report->object;
	struct finding_object *to = &finding->object;
	int kind = from->kind ? finding_object_kind_parse(from->kind) : -1;

	to->kind = kind < 0 ? FINDING_OBJECT_OTHER : (enum finding_object_kind)kind;
	to->name = finding_string(finding, from->name);
	to->address = from->address;
	to->size = from->size;
	if (access)
		to->offset = access->address - from->address;
	to->tid = from->made.tid;
	to->thread = finding_string(finding, from->made.thread);
	to->time = from->made.time ? complete_wall_time(from->made.time) : 0;
	add_moment(host, finding, space, &from->made, &to->stack);
	to->freed.tid = from->ended.tid;
	to->freed.thread = finding_string(finding, from->ended.thread);
	to->freed.time = from->ended.time ? complete_wall_time(from->ended.time) : 0;
	add_moment(host, finding, space, &from->ended, &to->freed.stack);
}
