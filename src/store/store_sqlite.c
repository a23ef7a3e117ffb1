/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store as a SQLite file. The rollback journal with synchronous=EXTRA survives a power cut at
 * any moment: the journal and its directory entry are on disk before the file changes. A file from
 * anybody may be opened, so one whose schema is not word for word ours is refused (a crafted schema
 * may hold triggers and views), and sizes are bounded.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "store/store_backend.h"

#define APPLICATION_ID 0x54726c6e /* "Trln", as file(1) may show it */
#define BUSY_MILLISECONDS 30000
#define COLUMNS_MAX 16
#define VALUE_MAX_BYTES (32 << 20)

struct store_sqlite {
	struct store store;
	sqlite3 *database;
	char *path;
};

static sqlite3 *database_of(struct store *store)
{
	return ((struct store_sqlite *)store)->database;
}

static int fail(struct store *store, int result, struct report_error *error)
{
	const char *path = ((struct store_sqlite *)store)->path;
	int code = -EIO;

	result &= 0xff;
	if (result == SQLITE_BUSY || result == SQLITE_LOCKED)
		return report_error(error, -EBUSY,
				    "%.200s: other writers held the store for %d s; try again",
				    path, BUSY_MILLISECONDS / 1000);
	if (result == SQLITE_NOTADB || result == SQLITE_CORRUPT)
		code = -EILSEQ;
	if (result == SQLITE_NOMEM)
		code = -ENOMEM;
	return report_error(error, code, "%.200s: %.250s", path,
			    sqlite3_errmsg(database_of(store)));
}

static int each_row(struct store *store, sqlite3_stmt *statement, store_row_fn *row, void *arg,
		    struct report_error *error)
{
	const char *values[COLUMNS_MAX];
	int result, columns, i, err;

	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		columns = sqlite3_column_count(statement);
		for (i = 0; i < columns && i < COLUMNS_MAX; i++)
			values[i] = (const char *)sqlite3_column_text(statement, i);
		err = row ? row(arg, (size_t)columns, values, error) : 0;
		if (err)
			return err;
	}
	return result == SQLITE_DONE ? 0 : fail(store, result, error);
}

static int execute(struct store *store, const char *sql, const char *const *parameters,
		   size_t count, store_row_fn *row, void *arg, struct report_error *error)
{
	sqlite3_stmt *statement = NULL;
	int result = sqlite3_prepare_v2(database_of(store), sql, -1, &statement, NULL), err;
	size_t i;

	/* Parameters are named $1, $2 …, and appear in that order. */
	for (i = 0; result == SQLITE_OK && i < count; i++)
		result = sqlite3_bind_text(statement, (int)i + 1, parameters[i], -1, SQLITE_STATIC);
	err = result == SQLITE_OK ? each_row(store, statement, row, arg, error)
				  : fail(store, result, error);
	sqlite3_finalize(statement);
	return err;
}

struct seen {
	const char *path;
	unsigned found; /* a bit for each expected entry */
};

static int check_entry(void *arg, size_t columns, const char *const *values,
		       struct report_error *error)
{
	static const char *const expected[] = {STORE_CREATE_FINDINGS, STORE_CREATE_SIGHTINGS,
					       STORE_CREATE_INDEX};
	struct seen *seen = arg;
	unsigned i;

	(void)columns;
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		if (values[0] && !strcmp(values[0], expected[i])) {
			seen->found |= 1u << i;
			return 0;
		}
	}
	return report_error(error, -EILSEQ,
			    "%.200s: this database was not made by trapline report --store",
			    seen->path);
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
	static const char *const statements[] = {STORE_CREATE_FINDINGS, STORE_CREATE_SIGHTINGS,
						 STORE_CREATE_INDEX};
	char sql[64];
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sizeof(statements) / sizeof(statements[0]); i++)
		err = execute(store, statements[i], NULL, 0, NULL, NULL, error);
	sqlite3_snprintf(sizeof(sql), sql, "PRAGMA application_id = %d", APPLICATION_ID);
	if (!err)
		err = execute(store, sql, NULL, 0, NULL, NULL, error);
	sqlite3_snprintf(sizeof(sql), sql, "PRAGMA user_version = %d", STORE_SCHEMA_VERSION);
	if (!err)
		err = execute(store, sql, NULL, 0, NULL, NULL, error);
	return err;
}

static int check_identity(struct store *store, struct seen *seen, struct report_error *error)
{
	long application = 0, version = 0;
	int err =
		execute(store, "PRAGMA application_id", NULL, 0, take_number, &application, error);

	if (!err)
		err = execute(store, "PRAGMA user_version", NULL, 0, take_number, &version, error);
	if (err)
		return err;
	if (application != APPLICATION_ID || seen->found != 7)
		return report_error(error, -EILSEQ,
				    "%.200s: this database was not made by trapline report --store",
				    seen->path);
	if (version != STORE_SCHEMA_VERSION)
		return report_error(error, -EILSEQ,
				    "%.200s: the store has version %ld, which this trapline does "
				    "not know; use a newer one",
				    seen->path, version);
	return 0;
}

static int prepare(struct store *store, bool create, struct report_error *error)
{
	struct seen seen = {((struct store_sqlite *)store)->path, 0};
	long entries = 0;
	int err;

	err = execute(store, "SELECT count(*) FROM sqlite_schema", NULL, 0, take_number, &entries,
		      error);
	if (!err && create && !entries)
		err = create_tables(store, error);
	if (!err)
		err = execute(store,
			      "SELECT sql FROM sqlite_schema WHERE name NOT LIKE "
			      "'sqlite_autoindex_%' OR sql IS NOT NULL",
			      NULL, 0, check_entry, &seen, error);
	return err ? err : check_identity(store, &seen, error);
}

static void close_sqlite(struct store *store)
{
	struct store_sqlite *sqlite = (struct store_sqlite *)store;

	sqlite3_close(sqlite->database);
	free(sqlite->path);
	free(sqlite);
}

static const struct store_backend backend = {
	.prepare = prepare,
	.execute = execute,
	.begin_write = "BEGIN IMMEDIATE",
	.close = close_sqlite,
};

static int harden(struct store_sqlite *sqlite, struct report_error *error)
{
	static const char *const pragmas[] = {"PRAGMA trusted_schema = OFF",
					      "PRAGMA cell_size_check = ON", "PRAGMA mmap_size = 0",
					      "PRAGMA synchronous = EXTRA"};
	size_t i;
	int err = 0;

	sqlite3_db_config(sqlite->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_limit(sqlite->database, SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES);
	sqlite3_limit(sqlite->database, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_busy_timeout(sqlite->database, BUSY_MILLISECONDS);
	for (i = 0; !err && i < sizeof(pragmas) / sizeof(pragmas[0]); i++)
		err = execute(&sqlite->store, pragmas[i], NULL, 0, NULL, NULL, error);
	return err;
}

/* Creates the file with mode 0600 before SQLite opens it; SQLite gives its journal the same
 * mode. */
static int create_file(const char *path, struct report_error *error)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
	struct stat status;
	int err = 0;

	if (fd < 0) {
		err = -errno;
		return report_error(error, err, "%.200s: cannot create the store: %s", path,
				    strerror(-err));
	}
	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		err = report_error(error, -EINVAL, "%.200s: a store is a regular file", path);
	close(fd);
	return err;
}

int store_sqlite_open(struct store **store, const char *path, bool create,
		      struct report_error *error)
{
	struct store_sqlite *sqlite = calloc(1, sizeof(*sqlite));
	int err = create && sqlite ? create_file(path, error) : 0;

	if (!sqlite || err) {
		free(sqlite);
		return err ? err : report_error(error, -ENOMEM, "memory is short");
	}
	sqlite->store.backend = &backend;
	sqlite->path = strdup(path);
	if (!sqlite->path)
		err = report_error(error, -ENOMEM, "memory is short");
	/* The file is opened for writing even to be read: a journal that a killed writer left must
	 * be rolled back. */
	else if (sqlite3_open_v2(path, &sqlite->database, SQLITE_OPEN_READWRITE, NULL))
		err = report_error(error, -EIO, "%.200s: cannot open the store: %.200s", path,
				   sqlite3_errmsg(sqlite->database));
	if (!err)
		err = harden(sqlite, error);
	if (err)
		close_sqlite(&sqlite->store);
	else
		*store = &sqlite->store;
	return err;
}
