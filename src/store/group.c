/* SPDX-License-Identifier: Apache-2.0 */
#include "store/group.h"

#include "base/path.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
	struct finding *finding;
	char *group;	/* NULL: the finding stands alone */
	bool answer;	/* it answers a question, and is no mistake of the program's */
	bool libraries; /* all its places are in the system's libraries */
	unsigned best;	/* rank of the surest in the group */
	uint64_t count; /* sum of the group's counts */
};

/* Who allocated the block: the first frame of its stack behind the allocator itself; NULL: none is
 * known. */
static const struct finding_frame *allocator(const struct finding_object *object)
{
	for (size_t i = 1; i < object->stack.count; i++)
		if (object->stack.frames[i].function)
			return &object->stack.frames[i];
	return NULL;
}

static void name_unnamed(const struct finding_object *object, char name[GROUP_NAME_SIZE])
{
	const struct finding_frame *frame = allocator(object);

	if (frame)
		snprintf(name, GROUP_NAME_SIZE, "heap blocks of %.200s", frame->function);
	else if (object->kind == FINDING_OBJECT_HEAP && object->size)
		snprintf(name, GROUP_NAME_SIZE, "heap blocks of %" PRIu64 " bytes", object->size);
	else if (object->module)
		snprintf(name, GROUP_NAME_SIZE, "%.180s+0x%" PRIx64, path_name(object->module),
			 object->module_offset & ~(uint64_t)7);
}

void finding_group(const struct finding *finding, char name[GROUP_NAME_SIZE])
{
	const struct finding_object *object = &finding->object;

	name[0] = '\0';
	if (finding->certainty != FINDING_POSSIBLE)
		return;
	if (object->name && !finding_object_is_named_by_size(object))
		snprintf(name, GROUP_NAME_SIZE, "%s %.*s", finding_object_kind_name(object->kind),
			 (int)strcspn(object->name, ".[ "), object->name);
	else
		name_unnamed(object, name);
}

static bool is_of_the_system(const char *path)
{
	static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/",
					      "/usr/libexec/"};

	for (size_t i = 0; path && i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

bool finding_is_of_libraries(const struct finding *finding)
{
	for (size_t i = 0; i < finding->access_count; i++) {
		const struct finding_frame *frame = finding_place_frame(&finding->accesses[i]);

		if (!frame || !is_of_the_system(frame->module) ||
		    (finding->program && strcmp(frame->module, finding->program) == 0))
			return false;
	}
	return finding->access_count;
}

static unsigned order_of(const struct finding *finding)
{
	return finding->rank ? finding->rank : UINT_MAX;
}

static int compare_groups(const void *first, const void *second)
{
	const struct row *a = first, *b = second;

	return a->group && b->group ? strcmp(a->group, b->group) : !a->group - !b->group;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_findings(const struct finding *a, const struct finding *b)
{
	if (order_of(a) != order_of(b))
		return compare_numbers(order_of(a), order_of(b));
	if (a->count != b->count)
		return compare_numbers(b->count, a->count);
	return strcmp(a->id, b->id);
}

static int compare(const void *first, const void *second)
{
	const struct row *a = first, *b = second;

	if (a->answer != b->answer)
		return a->answer - b->answer;
	if (a->libraries != b->libraries)
		return a->libraries - b->libraries;
	if (a->finding->certainty != b->finding->certainty)
		return compare_numbers(b->finding->certainty, a->finding->certainty);
	if (a->best != b->best)
		return compare_numbers(a->best, b->best);
	if (a->count != b->count)
		return compare_numbers(b->count, a->count);
	if (compare_groups(a, b) != 0)
		return compare_groups(a, b);
	return compare_findings(a->finding, b->finding);
}

/* Adds up the groups; a finding without a group is one of its own. */
static void sum_up(struct row *row, size_t count)
{
	size_t from, length;

	for (from = 0; from < count; from += length) {
		unsigned best = order_of(row[from].finding);
		uint64_t sum = row[from].finding->count;

		for (length = 1; row[from].group && from + length < count; length++) {
			const struct row *next = &row[from + length];

			if (compare_groups(next, &row[from]) != 0)
				break;
			if (order_of(next->finding) < best)
				best = order_of(next->finding);
			sum = sum > UINT64_MAX - next->finding->count ? UINT64_MAX
								      : sum + next->finding->count;
		}
		for (size_t i = 0; i < length; i++) {
			row[from + i].best = best;
			row[from + i].count = sum;
		}
	}
}

int finding_groups_sort(struct finding **findings, size_t count)
{
	struct row *row = calloc(count + 1, sizeof(*row));
	char name[GROUP_NAME_SIZE];

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		row[i].finding = findings[i];
		row[i].answer = finding_is_of_flow(findings[i]->kind) ||
				strcmp(findings[i]->kind, FINDING_HIT) == 0;
		row[i].libraries = finding_is_of_libraries(findings[i]);
		finding_group(findings[i], name);
		/* If memory is short the finding stands alone. */
		row[i].group = name[0] ? strdup(name) : NULL;
	}
	qsort(row, count, sizeof(*row), compare_groups);
	sum_up(row, count);
	qsort(row, count, sizeof(*row), compare);
	for (size_t i = 0; i < count; i++) {
		findings[i] = row[i].finding;
		free(row[i].group);
	}
	free(row);
	return 0;
}
