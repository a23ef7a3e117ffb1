/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of any number of runs in one database: a SQLite file, or a PostgreSQL server where a
 * fleet needs one. Each finding is kept once, each (finding, run) pair is one sighting with its
 * count, times, program, build-id and host.
 *
 * Merging is one transaction. It is idempotent: a sighting's count becomes the larger of the two,
 * its times the wider, so the same run may be merged again, also after having been cut short.
 * Writers may run side by side: SQLite's wait for each other (30 s at most), PostgreSQL's meet only
 * in rows they share, which all touch in the same order.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "session/error.h"
#include "store/query.h"
#include "store/set.h"

struct store;

/* Does the file begin as a SQLite database does? */
bool store_is_database(const char *path);

/* `create`: make the file, with mode 0600, or the tables if they are missing. 0 or -errno. */
int store_open(struct store **store, const char *where, bool create, struct report_error *error);
void store_close(struct store *store); /* NULL is allowed */

/* Merges the set, which must not be folded, and sorts it. */
int store_merge(struct store *store, struct finding_set *set, struct report_error *error);

/* Adds what the query selects to the set, one finding per id, and folds the set. */
int store_select(struct store *store, const struct query *query, struct finding_set *set,
		 struct report_error *error);

/* Adds one finding for each finding and run, as that run's own output would have it. Nothing is
 * folded, so one store may be merged into another. */
int store_read(struct store *store, struct finding_set *set, struct report_error *error);

#endif
