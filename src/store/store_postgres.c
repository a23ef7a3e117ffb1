/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store on a PostgreSQL server (12 or newer). libpq is loaded when it is asked for, so that
 * trapline needs it neither to be built nor to be installed; what is used of it is declared here
 * and has not changed since libpq.so.5 began.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "store/store_backend.h"

#define COLUMNS_MAX 16
#define SQLSTATE 'C' /* PG_DIAG_SQLSTATE of postgres_ext.h */

/* Values of libpq-fe.h's enumerations. */
#define CONNECTION_OK 0
#define PGRES_COMMAND_OK 1
#define PGRES_TUPLES_OK 2

/* FUNCTION(result, name, parameters) */
#define LIBPQ_FUNCTIONS                                                                           \
	FUNCTION(void *, PQconnectdb, (const char *conninfo))                                     \
	FUNCTION(int, PQstatus, (const void *connection))                                         \
	FUNCTION(char *, PQerrorMessage, (const void *connection))                                \
	FUNCTION(void, PQfinish, (void *connection))                                              \
	FUNCTION(void *, PQexecParams,                                                            \
		 (void *connection, const char *command, int count, const unsigned *types,        \
		  const char *const *values, const int *lengths, const int *formats, int format)) \
	FUNCTION(int, PQresultStatus, (const void *result))                                       \
	FUNCTION(char *, PQresultErrorMessage, (const void *result))                              \
	FUNCTION(char *, PQresultErrorField, (const void *result, int field))                     \
	FUNCTION(int, PQntuples, (const void *result))                                            \
	FUNCTION(int, PQnfields, (const void *result))                                            \
	FUNCTION(char *, PQgetvalue, (const void *result, int row, int column))                   \
	FUNCTION(int, PQgetisnull, (const void *result, int row, int column))                     \
	FUNCTION(void, PQclear, (void *result))

struct libpq {
	void *handle;
#define FUNCTION(result, name, parameters) result(*name) parameters;
	LIBPQ_FUNCTIONS
#undef FUNCTION
};

struct store_postgres {
	struct store store;
	struct libpq pq;
	void *connection;
};

static struct store_postgres *postgres_of(struct store *store)
{
	return (struct store_postgres *)store;
}

static int load_libpq(struct libpq *pq, struct report_error *error)
{
	pq->handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
	if (!pq->handle)
		return report_error(error, -ENOENT,
				    "a PostgreSQL store needs libpq; install the package libpq5");
#define FUNCTION(result, name, parameters)              \
	*(void **)&pq->name = dlsym(pq->handle, #name); \
	if (!pq->name)                                  \
		return report_error(error, -ENOENT, "libpq.so.5 lacks " #name "; reinstall libpq5");
	LIBPQ_FUNCTIONS
#undef FUNCTION
	return 0;
}

/* Was it a serialisation failure, a deadlock, or two writers' creating the same row or table at
 * once? */
static bool is_collision(const char *state)
{
	return state && (!strcmp(state, "40001") || !strcmp(state, "40P01") ||
			 !strcmp(state, "23505") || !strcmp(state, "42P07"));
}

static int fail(const struct libpq *pq, const void *result, struct report_error *error)
{
	const char *text = pq->PQresultErrorMessage(result);
	int code = is_collision(pq->PQresultErrorField(result, SQLSTATE)) ? -EAGAIN : -EIO;

	return report_error(error, code, "the PostgreSQL store: %.*s", (int)strcspn(text, "\n"),
			    text);
}

static int each_row(const struct libpq *pq, const void *result, store_row_fn *row, void *arg,
		    struct report_error *error)
{
	const char *values[COLUMNS_MAX];
	int columns = pq->PQnfields(result), rows = pq->PQntuples(result), i, column, err = 0;

	for (i = 0; row && !err && i < rows; i++) {
		for (column = 0; column < columns && column < COLUMNS_MAX; column++)
			values[column] = pq->PQgetisnull(result, i, column)
						 ? NULL
						 : pq->PQgetvalue(result, i, column);
		err = row(arg, (size_t)columns, values, error);
	}
	return err;
}

static int execute(struct store *store, const char *sql, const char *const *parameters,
		   size_t count, store_row_fn *row, void *arg, struct report_error *error)
{
	struct store_postgres *postgres = postgres_of(store);
	const struct libpq *pq = &postgres->pq;
	void *result = pq->PQexecParams(postgres->connection, sql, (int)count, NULL, parameters,
					NULL, NULL, 0);
	int status = pq->PQresultStatus(result), err;

	if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
		err = each_row(pq, result, row, arg, error);
	else
		err = fail(pq, result, error);
	pq->PQclear(result);
	return err;
}

static int take_number(void *arg, size_t columns, const char *const *values,
		       struct report_error *error)
{
	(void)columns;
	(void)error;
	*(long *)arg = values[0] ? strtol(values[0], NULL, 10) : 0;
	return 0;
}

static int create_tables(struct store *store, struct report_error *error)
{
	static const char *const statements[] = {
		STORE_CREATE_FINDINGS, STORE_CREATE_SIGHTINGS, STORE_CREATE_INDEX,
		"CREATE TABLE trapline_schema (version INTEGER PRIMARY KEY)",
		"INSERT INTO trapline_schema VALUES (1)"};
	size_t i;
	int err = 0;

	_Static_assert(STORE_SCHEMA_VERSION == 1, "the version stands in the statement above");
	for (i = 0; !err && i < sizeof(statements) / sizeof(statements[0]); i++)
		err = execute(store, statements[i], NULL, 0, NULL, NULL, error);
	return err;
}

static int prepare(struct store *store, bool create, struct report_error *error)
{
	long tables = 0, version = 0;
	int err = execute(store,
			  "SELECT count(*) FROM pg_tables WHERE tablename = 'trapline_schema' "
			  "AND schemaname = ANY (current_schemas(false))",
			  NULL, 0, take_number, &tables, error);

	if (err)
		return err;
	if (!tables && !create)
		return report_error(error, -ENOENT,
				    "the database holds no store; trapline report --store FILE… "
				    "makes one");
	err = tables ? 0 : create_tables(store, error);
	if (!err)
		err = execute(store, "SELECT version FROM trapline_schema", NULL, 0, take_number,
			      &version, error);
	if (!err && version != STORE_SCHEMA_VERSION)
		err = report_error(error, -EILSEQ,
				   "the store has version %ld, which this trapline does not know; "
				   "use a newer one",
				   version);
	return err;
}

static void close_postgres(struct store *store)
{
	struct store_postgres *postgres = postgres_of(store);

	if (postgres->connection)
		postgres->pq.PQfinish(postgres->connection);
	/* libpq stays loaded, since it has registered functions to be called at exit. */
	free(postgres);
}

static const struct store_backend backend = {
	.prepare = prepare,
	.execute = execute,
	.begin_write = "BEGIN",
	.close = close_postgres,
};

static int connect_server(struct store_postgres *postgres, const char *where,
			  struct report_error *error)
{
	const struct libpq *pq = &postgres->pq;
	const char *text;

	postgres->connection = pq->PQconnectdb(where);
	if (!postgres->connection)
		return report_error(error, -ENOMEM, "memory is short");
	if (pq->PQstatus(postgres->connection) == CONNECTION_OK)
		return execute(&postgres->store, "SET client_encoding = 'UTF8'", NULL, 0, NULL,
			       NULL, error);
	text = pq->PQerrorMessage(postgres->connection);
	return report_error(error, -ECONNREFUSED, "cannot reach the PostgreSQL store: %.*s",
			    (int)strcspn(text, "\n"), text);
}

int store_postgres_open(struct store **store, const char *where, struct report_error *error)
{
	struct store_postgres *postgres = calloc(1, sizeof(*postgres));
	int err;

	if (!postgres)
		return report_error(error, -ENOMEM, "memory is short");
	postgres->store.backend = &backend;
	err = load_libpq(&postgres->pq, error);
	if (!err)
		err = connect_server(postgres, where, error);
	if (err)
		close_postgres(&postgres->store);
	else
		*store = &postgres->store;
	return err;
}
