/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of any number of files, each kept once. Within one file the same finding of the same run
 * adds up (a tool may write a line each time it sees it); the same run in another file is the same
 * run once more, complete or cut short, so the larger count is kept and nothing counts twice; and
 * counts of different runs add up when the set is folded.
 */
#ifndef STORE_SET_H
#define STORE_SET_H

#include "record/finding.h"

struct finding_set {
	struct finding **findings;
	size_t count;
	size_t capacity;
	struct set_entry *entries; /* private, parallel to findings */
	size_t *table;		   /* private: open addressing; an index into `entries` plus 1 */
	size_t table_size;
	unsigned file; /* private: number of the file that is being read */
	bool folded;
};

struct finding_set *finding_set_create(void); /* NULL: memory is short */
void finding_set_destroy(struct finding_set *set);

/* Takes the finding over, even when it fails with -ENOMEM. A finding without an id is given one,
 * and one without a run the run "-". */
int finding_set_add(struct finding_set *set, struct finding *finding);

/* Findings that are added from now on come from another file than those before. */
void finding_set_next_file(struct finding_set *set);

/* Joins the entries of all runs of one id, and sorts by sureness, then by count. Nothing may be
 * added afterwards. */
int finding_set_fold(struct finding_set *set);

/* Sorts by id, then run: the order in which concurrent writers of a store must go. */
void finding_set_sort_by_id(struct finding_set *set);

/* Is a finding of this id in the set? Only for folded sets. */
bool finding_set_contains(const struct finding_set *set, const char *id);

#endif
