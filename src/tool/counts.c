/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/counts.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 32

/* NULL when memory is short. */
static struct tool_count *add(struct tool_counts *counts, const char *name, const char *meaning)
{
	if (counts->used == counts->capacity) {
		size_t capacity = counts->capacity ? 2 * counts->capacity : FIRST;
		struct tool_count *grown =
			realloc(counts->count, capacity * sizeof(counts->count[0]));

		if (!grown)
			return NULL;
		counts->count = grown;
		counts->capacity = capacity;
	}
	counts->count[counts->used] = (struct tool_count){.name = name, .meaning = meaning};
	return &counts->count[counts->used++];
}

void tool_counts_begin(struct tool_counts *counts, const struct tl_count *known)
{
	*counts = (struct tool_counts){.lost = 0};
	add(counts, "findings-lost", "findings for which there was no memory");
	for (; known && known->name; known++)
		add(counts, known->name, known->meaning);
}

static struct tool_count *find(const struct tool_counts *counts, const char *name)
{
	for (size_t i = 0; i < counts->used; i++)
		if (counts->count[i].name == name)
			return &counts->count[i];
	for (size_t i = 0; i < counts->used; i++)
		if (strcmp(counts->count[i].name, name) == 0)
			return &counts->count[i];
	return NULL;
}

void tool_counts_add(struct tool_counts *counts, const char *name, uint64_t amount)
{
	struct tool_count *count = find(counts, name);

	if (!count)
		count = add(counts, name, "counted by the tool, which says no more of it");
	if (count)
		count->value += amount;
	else
		counts->lost++;
}

void tool_counts_each(const struct tool_counts *counts, control_count_fn *each, void *context)
{
	for (size_t i = 0; i < counts->used; i++)
		each(context, counts->count[i].name, counts->count[i].value,
		     counts->count[i].meaning);
	if (counts->lost)
		each(context, "counts-lost", counts->lost,
		     "times that a tool counted what there was no memory for");
}

void tool_counts_end(struct tool_counts *counts)
{
	free(counts->count);
}
