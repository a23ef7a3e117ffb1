/* SPDX-License-Identifier: Apache-2.0 */
/* What store.c asks of a database. Private to store*.c. */
#ifndef STORE_STORE_BACKEND_H
#define STORE_STORE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "session/error.h"

struct store;

/* Called for each row; a column is NULL where the database has NULL. Returns 0, or -errno to
 * stop. */
typedef int store_row_fn(void *arg, size_t columns, const char *const *values,
			 struct report_error *error);

struct store_backend {
	/* Creates the tables when they are missing and `create` says so, and checks that they are
	 * ours. Runs inside a transaction. */
	int (*prepare)(struct store *store, bool create, struct report_error *error);
	/* One statement with parameters $1… as text. -EAGAIN: another writer was in the way, and
	 * the whole transaction must be rolled back and done again. */
	int (*execute)(struct store *store, const char *sql, const char *const *parameters,
		       size_t count, store_row_fn *row, void *arg, struct report_error *error);
	const char *begin_write; /* the statement that begins a writing transaction */
	void (*close)(struct store *store);
};

struct store {
	const struct store_backend *backend;
};

int store_sqlite_open(struct store **store, const char *path, bool create,
		      struct report_error *error);
int store_postgres_open(struct store **store, const char *where, struct report_error *error);

/* The tables, in the words both databases understand. */
#define STORE_SCHEMA_VERSION 1

#define STORE_CREATE_FINDINGS                                                          \
	"CREATE TABLE trapline_findings (id TEXT PRIMARY KEY, rank INTEGER NOT NULL, " \
	"body TEXT NOT NULL)"
#define STORE_CREATE_SIGHTINGS                                                                   \
	"CREATE TABLE trapline_sightings (id TEXT NOT NULL REFERENCES trapline_findings(id), "   \
	"run TEXT NOT NULL, program TEXT NOT NULL, build_id TEXT NOT NULL, host TEXT NOT NULL, " \
	"first BIGINT NOT NULL, last BIGINT NOT NULL, count BIGINT NOT NULL, "                   \
	"PRIMARY KEY (id, run))"
#define STORE_CREATE_INDEX \
	"CREATE INDEX trapline_sightings_build ON trapline_sightings (build_id, first)"

#endif
