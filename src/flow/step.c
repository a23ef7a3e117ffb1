/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/step.h"

#include "traffic/tell.h"

/* Nodes that are the same code for the same instruction of the parent's are one finding. */
static uint32_t node_of(const struct flow_steps *steps, uint32_t node)
{
	struct flow_step step, before;

	steps->step(steps->tree, node, &step);
	for (uint32_t i = 0; i < node; i++)
		if (steps->step(steps->tree, i, &before) && before.pc == step.pc &&
		    before.other == step.other)
			return i;
	return node;
}

/* "end-1" to "end-4": of the items those that go no further, four at most. */
static void add_ends(const struct flow_steps *steps, uint32_t node, struct flow_finding *finding)
{
	static const char *const names[] = {"end-1", "end-2", "end-3", "end-4"};
	char text[FLOW_DETAIL_TEXT];
	unsigned count = 0;

	for (uint32_t i = 0; i < steps->items && count < sizeof(names) / sizeof(names[0]); i++)
		if (steps->end(steps->tree, node, i, text))
			flow_detail(finding, names[count++], "%s", text);
}

/* The finding keeps `opposite_stack`, the pc of the other access and the caller's. */
static void add_accesses(const struct flow_steps *steps, const struct flow_step *step,
			 const uint64_t opposite_stack[2], struct flow_finding *finding)
{
	unsigned opposite = step->access & TL_WRITE ? TL_READ : TL_WRITE;
	uint32_t other;

	flow_add_place(finding, &steps->places->place[step->place], step->access, step->address,
		       step->length);
	finding->access[0].tid = step->way->tid;
	flow_add_stack(finding, step->way->pc, step->way->count);
	other = step->other ? flow_place_find(steps->places, step->pid, step->other) : FLOW_NOWHERE;
	if (other == FLOW_NOWHERE)
		return;
	flow_add_place(finding, &steps->places->place[other], opposite, step->address,
		       step->length);
	flow_add_stack(finding, opposite_stack, step->context ? 2 : 1);
}

static void tell(const struct flow_steps *steps, uint32_t node)
{
	struct flow_finding finding = {.kind = "flow-step", .rank = node + 1};
	struct flow_step step;
	uint64_t opposite_stack[2];

	if (!steps->step(steps->tree, node, &step) || step.place == FLOW_NOWHERE ||
	    node_of(steps, node) != node)
		return;
	opposite_stack[0] = step.other;
	opposite_stack[1] = step.context;
	add_accesses(steps, &step, opposite_stack, &finding);
	flow_detail(&finding, "node", "%u", node);
	if (step.parent != FLOW_NONE)
		flow_detail(&finding, "parent", "%u", node_of(steps, step.parent));
	flow_detail(&finding, "percent", "%.1f",
		    step.confirmed ? 100 * (double)step.count / (double)step.confirmed : 0);
	flow_detail(&finding, "seen", "%llu", (unsigned long long)step.count);
	flow_detail(&finding, "address", "0x%llx", (unsigned long long)step.address);
	if (step.repeats != FLOW_NONE)
		flow_detail(&finding, "repeats", "%u", node_of(steps, step.repeats));
	else
		add_ends(steps, node, &finding);
	flow_tell(steps->places->host, steps->places->services, &finding);
}

void flow_steps_tell(const struct flow_steps *steps)
{
	for (uint32_t i = 0; i < steps->nodes; i++)
		tell(steps, i);
}
