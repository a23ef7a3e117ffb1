/* SPDX-License-Identifier: Apache-2.0 */
#include "report/flow.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

bool flow_is_finding(const struct finding *finding)
{
	return finding_is_of_flow(finding->kind);
}

bool flow_is_forwards(const struct finding *finding)
{
	return strcmp(finding->kind, "flow-step") == 0 && finding->access_count &&
	       finding->accesses[0].operation == FINDING_READ;
}

const char *flow_detail_text(const struct finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->detail_count; i++)
		if (strcmp(finding->details[i].name, name) == 0)
			return finding->details[i].value;
	return NULL;
}

double flow_detail_number(const struct finding *finding, const char *name)
{
	const char *text = flow_detail_text(finding, name);

	return text ? strtod(text, NULL) : 0;
}

static const char *module_name(const char *path)
{
	return path ? path_name(path) : "?";
}

static void name_frame(const struct finding_frame *frame, enum flow_by by, char *text, size_t size)
{
	if (by == FLOW_BY_MODULE)
		snprintf(text, size, "%s", module_name(frame->module));
	else if (by == FLOW_BY_FILE && frame->file)
		snprintf(text, size, "%s", module_name(frame->file));
	else if (frame->function && by == FLOW_BY_LINE && frame->file && frame->line)
		snprintf(text, size, "%s %s:%u", frame->function, module_name(frame->file),
			 frame->line);
	else if (frame->function && by == FLOW_BY_LINE && frame->function_offset >= 0)
		snprintf(text, size, "%s+%lld (%s)", frame->function,
			 (long long)frame->function_offset, module_name(frame->module));
	else if (frame->function)
		snprintf(text, size, "%s", frame->function);
	else
		snprintf(text, size, "%s+0x%llx", module_name(frame->module),
			 (unsigned long long)frame->offset);
}

/* Small functions are inlined in many others: which one's copy it is. */
static void name_outer(const struct finding_access *access, const struct finding_frame *frame,
		       char *text, size_t size)
{
	const struct finding_frame *end = access->stack.frames + access->stack.count;
	const struct finding_frame *outer = frame;
	size_t used = strlen(text);

	while (outer->inlined && outer + 1 < end)
		outer++;
	if (outer != frame && outer->function)
		snprintf(text + used, size - used, " in %s", outer->function);
}

void flow_name(const struct finding *finding, size_t index, enum flow_by by, char *text,
	       size_t size)
{
	const struct finding_access *access;
	const struct finding_frame *frame;

	snprintf(text, size, "?");
	if (index >= finding->access_count)
		return;
	access = &finding->accesses[index];
	frame = finding_place_frame(access);
	if (by == FLOW_BY_THREAD)
		snprintf(text, size, "%s %d", access->thread ? access->thread : "thread",
			 (int)access->tid);
	else if (frame)
		name_frame(frame, by, text, size);
	if (frame && (by == FLOW_BY_LINE || by == FLOW_BY_FUNCTION))
		name_outer(access, frame, text, size);
}

static int by_names(const void *a, const void *b)
{
	const struct flow_link *x = a, *y = b;
	int order = strcmp(x->from, y->from);

	return order ? order : strcmp(x->to, y->to);
}

static int by_weight(const void *a, const void *b)
{
	const struct flow_link *x = a, *y = b;

	if (x->percent != y->percent)
		return x->percent > y->percent ? -1 : 1;
	return by_names(a, b);
}

static bool is_link(const struct finding *finding)
{
	return finding->access_count == 2 && flow_is_finding(finding);
}

static size_t collect(const struct flow_view *view, struct flow_link *links)
{
	char from[512], to[512];
	size_t count = 0;

	for (size_t i = 0; i < view->count; i++) {
		const struct finding *finding = view->findings[i];

		if (!is_link(finding))
			continue;
		flow_name(finding, flow_is_forwards(finding), view->by, from, sizeof(from));
		flow_name(finding, !flow_is_forwards(finding), view->by, to, sizeof(to));
		links[count] = (struct flow_link){
			.from = strdup(from),
			.to = strdup(to),
			.percent = flow_detail_number(finding, "percent"),
			.seen = flow_detail_number(finding, "seen"),
			.example = finding,
		};
		if (links[count].from && links[count].to)
			count++;
	}
	return count;
}

static size_t fold(struct flow_link *links, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct flow_link *last = kept ? &links[kept - 1] : NULL;

		if (last && !by_names(last, &links[i])) {
			last->percent += links[i].percent;
			last->seen += links[i].seen;
			free(links[i].from);
			free(links[i].to);
		} else {
			links[kept++] = links[i];
		}
	}
	return kept;
}

struct flow_link *flow_links(const struct flow_view *view, size_t *count)
{
	struct flow_link *links = calloc(view->count + 1, sizeof(*links));

	*count = 0;
	if (!links)
		return NULL;
	*count = collect(view, links);
	qsort(links, *count, sizeof(*links), by_names);
	*count = fold(links, *count);
	qsort(links, *count, sizeof(*links), by_weight);
	return links;
}

void flow_links_free(struct flow_link *links, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(links[i].from);
		free(links[i].to);
	}
	free(links);
}
