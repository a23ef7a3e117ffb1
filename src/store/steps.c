/* SPDX-License-Identifier: Apache-2.0 */
#include "store/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct step {
	const char *run, *node; /* `node` as its run has it */
	bool forwards;		/* of a tree of where values go */
	struct finding *finding;
};

static const char *detail_of(const struct finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->detail_count; i++)
		if (strcmp(finding->details[i].name, name) == 0)
			return finding->details[i].value;
	return NULL;
}

static int compare(const void *first, const void *second)
{
	const struct step *a = first, *b = second;
	int order = strcmp(a->run, b->run);

	if (!order)
		order = (int)a->forwards - (int)b->forwards;
	return order ? order : strcmp(a->node, b->node);
}

static struct step step_of(struct finding *finding, const char *node)
{
	return (struct step){
		.run = finding->run ? finding->run : "-",
		.node = node,
		.forwards = finding->access_count && finding->accesses[0].operation == FINDING_READ,
		.finding = finding,
	};
}

static size_t collect(struct finding **findings, size_t count, struct step *steps)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const char *node = strcmp(findings[i]->kind, "flow-step") == 0
					   ? detail_of(findings[i], "node")
					   : NULL;

		if (node)
			steps[found++] = step_of(findings[i], node);
	}
	return found;
}

/* Strings of findings live as long as these: the sorted steps' `node` does not change by it. */
static int rename_detail(struct finding *finding, const char *name, const struct step *steps,
			 size_t count)
{
	const char *value = detail_of(finding, name);
	const struct step *found;
	struct step wanted;

	if (!value)
		return 0;
	wanted = step_of(finding, value);
	found = bsearch(&wanted, steps, count, sizeof(*steps), compare);
	return found ? finding_add_detail(finding, name, found->finding->id) : 0;
}

int finding_steps_name(struct finding **findings, size_t count)
{
	static const char *const names[] = {"parent", "repeats", "node"};
	struct step *steps = calloc(count + 1, sizeof(*steps));
	size_t found;
	int err = 0;

	if (!steps)
		return -ENOMEM;
	found = collect(findings, count, steps);
	qsort(steps, found, sizeof(*steps), compare);
	for (size_t i = 0; i < found && !err; i++)
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]) && !err; j++)
			err = rename_detail(steps[i].finding, names[j], steps, found);
	free(steps);
	return err;
}
