/* SPDX-License-Identifier: Apache-2.0 */
#include "store/set.h"

#include "store/group.h"
#include "store/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct set_entry {
	unsigned file;	/* number of the file in which the finding was met last */
	uint64_t other; /* count in that earlier file which had the largest */
	uint64_t here;	/* sum of the counts in this file */
};

struct finding_set *finding_set_create(void)
{
	return calloc(1, sizeof(struct finding_set));
}

void finding_set_destroy(struct finding_set *set)
{
	size_t i;

	if (!set)
		return;
	for (i = 0; i < set->count; i++)
		finding_destroy(set->findings[i]);
	free(set->findings);
	free(set->entries);
	free(set->table);
	free(set);
}

static const char *run_of(const struct finding *finding)
{
	return finding->run ? finding->run : "-";
}

static size_t hash_key(const char *id, const char *run)
{
	size_t hash = 5381;

	for (; *id; id++)
		hash = hash * 33 + (unsigned char)*id;
	for (; *run; run++)
		hash = hash * 33 + (unsigned char)*run;
	return hash ^ hash >> 17;
}

/* The slot of the table that holds this key, or the empty one where it belongs. */
static size_t *find_slot(const struct finding_set *set, const char *id, const char *run)
{
	size_t at = hash_key(id, run) % set->table_size;

	while (set->table[at]) {
		const struct finding *finding = set->findings[set->table[at] - 1];

		if (!strcmp(finding->id, id) && (set->folded || !strcmp(run_of(finding), run)))
			break;
		at = (at + 1) % set->table_size;
	}
	return &set->table[at];
}

static int rebuild_table(struct finding_set *set, size_t size)
{
	size_t *table = calloc(size, sizeof(*table));
	size_t i;

	if (!table)
		return -ENOMEM;
	free(set->table);
	set->table = table;
	set->table_size = size;
	for (i = 0; i < set->count; i++)
		*find_slot(set, set->findings[i]->id, set->folded ? "" : run_of(set->findings[i])) =
			i + 1;
	return 0;
}

/* Makes room for one more entry, and keeps the table at most half full. */
static int reserve(struct finding_set *set)
{
	size_t wanted = set->capacity ? set->capacity * 2 : 64;
	void *findings, *entries;

	if (set->count < set->capacity)
		return 0;
	findings = realloc(set->findings, wanted * sizeof(*set->findings));
	if (!findings)
		return -ENOMEM;
	set->findings = findings;
	entries = realloc(set->entries, wanted * sizeof(*set->entries));
	if (!entries)
		return -ENOMEM;
	set->entries = entries;
	set->capacity = wanted;
	return rebuild_table(set, wanted * 2 + 1);
}

static uint64_t add_counts(uint64_t a, uint64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b; /* stores keep signed 64 bits */
}

static void merge_times(struct finding *to, const struct finding *from)
{
	uint64_t last = from->last ? from->last : from->time;

	if (from->time && (!to->time || from->time < to->time))
		to->time = from->time;
	if (last > to->last && last > to->time)
		to->last = last;
}

static void merge_occurrences(struct finding *to, const struct finding *from)
{
	size_t i;

	for (i = 0; i < from->access_count && from->time; i++)
		finding_add_occurrence(to,
				       from->accesses[i].time ? from->accesses[i].time : from->time,
				       from->accesses[i].tid, false);
	for (i = 0; i < from->occurrence_count; i++)
		finding_add_occurrence(to, from->occurrences[i].time, from->occurrences[i].tid,
				       false);
}

/* Merges everything but the count. */
static void merge_facts(struct finding *to, const struct finding *from)
{
	size_t i;

	if (from->certainty > to->certainty)
		to->rank = from->rank;
	else if (from->certainty == to->certainty && from->rank &&
		 (!to->rank || from->rank < to->rank))
		to->rank = from->rank;
	if (from->certainty > to->certainty)
		to->certainty = from->certainty;
	for (i = 0; i < from->evidence_count; i++)
		/* what exceeds the bound is left out */
		finding_add_evidence(to, from->evidence[i]);
	merge_occurrences(to, from);
	merge_times(to, from);
}

static void merge_line(struct finding_set *set, size_t at, struct finding *from)
{
	struct set_entry *entry = &set->entries[at];
	struct finding *to = set->findings[at];

	if (entry->file != set->file) {
		entry->file = set->file;
		entry->other = to->count;
		entry->here = 0;
	}
	entry->here = add_counts(entry->here, from->count);
	to->count = entry->here > entry->other ? entry->here : entry->other;
	merge_facts(to, from);
}

int finding_set_add(struct finding_set *set, struct finding *finding)
{
	int err = reserve(set);
	size_t *slot;

	if (err) {
		finding_destroy(finding);
		return err;
	}
	if (!finding->id[0])
		finding_identify(finding);
	slot = find_slot(set, finding->id, run_of(finding));
	if (*slot) {
		merge_line(set, *slot - 1, finding);
		finding_destroy(finding);
		return 0;
	}
	set->entries[set->count] = (struct set_entry){set->file, 0, finding->count};
	set->findings[set->count++] = finding;
	*slot = set->count;
	return 0;
}

void finding_set_next_file(struct finding_set *set)
{
	set->file++;
}

static int compare_keys(const void *first, const void *second)
{
	const struct finding *a = *(struct finding *const *)first;
	const struct finding *b = *(struct finding *const *)second;
	int order = strcmp(a->id, b->id);

	return order ? order : strcmp(run_of(a), run_of(b));
}

void finding_set_sort_by_id(struct finding_set *set)
{
	if (set->count)
		qsort(set->findings, set->count, sizeof(struct finding *), compare_keys);
}

static int compare_text(const void *first, const void *second)
{
	return strcmp(*(const char *const *)first, *(const char *const *)second);
}

static unsigned count_distinct(const char **texts, size_t count)
{
	unsigned distinct = 0;
	size_t i;

	qsort(texts, count, sizeof(*texts), compare_text);
	for (i = 0; i < count; i++)
		distinct += i == 0 || strcmp(texts[i - 1], texts[i]) != 0;
	return distinct;
}

/* Counts the runs, hosts and builds of the findings of one id; scratch holds `count` pointers. */
static void count_spread(struct finding *into, struct finding **group, size_t count,
			 const char **scratch)
{
	unsigned hosts, builds;
	size_t i;

	if (count == 1 && into->runs)
		return; /* the findings come from a store, which has counted them */
	for (i = 0; i < count; i++)
		scratch[i] = group[i]->host ? group[i]->host : "";
	hosts = count_distinct(scratch, count);
	for (i = 0; i < count; i++)
		scratch[i] = group[i]->build_id ? group[i]->build_id : "";
	builds = count_distinct(scratch, count);
	into->runs = (unsigned)count;
	into->hosts = hosts;
	into->builds = builds;
}

static void fold_group(struct finding **group, size_t count, const char **scratch)
{
	size_t i;

	count_spread(group[0], group, count, scratch);
	for (i = 1; i < count; i++) {
		group[0]->count = add_counts(group[0]->count, group[i]->count);
		merge_facts(group[0], group[i]);
		finding_destroy(group[i]);
	}
}

int finding_set_fold(struct finding_set *set)
{
	const char **scratch = calloc(set->count + 1, sizeof(*scratch));
	size_t from, to, length;

	if (!scratch)
		return -ENOMEM;
	if (finding_steps_name(set->findings, set->count)) {
		free(scratch);
		return -ENOMEM;
	}
	finding_set_sort_by_id(set);
	for (from = to = 0; from < set->count; from += length) {
		for (length = 1; from + length < set->count; length++)
			if (strcmp(set->findings[from]->id, set->findings[from + length]->id) != 0)
				break;
		fold_group(&set->findings[from], length, scratch);
		set->findings[to++] = set->findings[from];
	}
	free(scratch);
	set->count = to;
	set->folded = true;
	if (finding_groups_sort(set->findings, to))
		return -ENOMEM;
	return rebuild_table(set, to * 2 + 1);
}

bool finding_set_contains(const struct finding_set *set, const char *id)
{
	return set->table_size && *find_slot(set, id, "");
}
