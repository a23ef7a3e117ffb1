/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/statistics.h"

#include "record/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Counters are shown in groups by how their names begin; the first group that fits has it. Counters
 * that fit none are shown last. */
static const struct group {
	const char *title;
	const char *beginnings[16];
} groups[] = {
	{"samples",
	 {"windows", "samples-lost", "samples", "clocks", "accesses", "threads-unsampled",
	  "cpus-unsampled"}},
	{"processes",
	 {"processes", "threads", "debuggers", "unanswered", "limits", "entered", "entries",
	  "children", "actions", "put-off", "areas", "programs", "promptness"}},
	{"watches",
	 {"slots", "requests", "watches", "looks", "code-", "aim", "single-watches", "probes",
	  "coincidences", "rests", "pauses", "team", "births", "foreseen"}},
	{"hits", {"hits", "calls", "traces", "traps", "shared", "solitary", "pairs"}},
	{"findings", {"hidden", "repeats", "findings"}},
	{"heap", {"notices", "allocations", "guards", "heap-", "pages-forbidden"}},
	{"stack", {"stack-"}},
	{"uninit",
	 {"blocks", "words", "frame", "copies-watched", "functions", "loads", "branches"}},
	{"flow", {"flow-"}},
	{"cost", {"time-", "ms-", "ns-"}},
	{"symbols", {"symbol"}},
	{"other", {""}},
};

#define GROUPS (sizeof(groups) / sizeof(groups[0]))

int statistics_parse(const char *text, enum statistics_choice *choice)
{
	*choice = text ? STATISTICS_ALL : STATISTICS_COUNTED;
	if (!text || strcmp(text, "all") == 0)
		return 0;
	utf8_fprintf(stderr, "trapline: --stats '%s' is not `all`\n", text);
	return 2;
}

void statistics_add(void *context, const char *name, uint64_t value, const char *meaning)
{
	struct statistics *statistics = context;

	if (statistics->count == STATISTICS_MAX) {
		statistics->left_out++;
		return;
	}
	statistics->row[statistics->count++] = (struct statistic){name, meaning, value};
}

static bool belongs(const struct group *group, const char *name)
{
	for (unsigned i = 0; i < sizeof(group->beginnings) / sizeof(group->beginnings[0]); i++)
		if (group->beginnings[i] &&
		    strncmp(name, group->beginnings[i], strlen(group->beginnings[i])) == 0)
			return true;
	return false;
}

static const struct group *group_of(const char *name)
{
	const struct group *group = groups;

	while (!belongs(group, name))
		group++;
	return group;
}

static void print_group(const struct statistics *statistics, const struct group *group, bool all,
			FILE *stream)
{
	bool titled = false;

	for (unsigned i = 0; i < statistics->count; i++) {
		const struct statistic *row = &statistics->row[i];

		if ((!row->value && !all) || group_of(row->name) != group)
			continue;
		if (!titled)
			fprintf(stream, "%s:\n", group->title);
		titled = true;
		fprintf(stream, "%12llu  %-24s %s\n", (unsigned long long)row->value, row->name,
			row->meaning);
	}
}

void statistics_print(const struct statistics *statistics, enum statistics_choice choice,
		      FILE *stream)
{
	if (choice == STATISTICS_NONE)
		return;
	for (size_t i = 0; i < GROUPS; i++)
		print_group(statistics, &groups[i], choice == STATISTICS_ALL, stream);
	if (statistics->left_out)
		fprintf(stream, "%12u  counts more\n", statistics->left_out);
	fflush(stream);
}
