/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "jsonl/json.h"
#include "store/store_backend.h"
#include "record/utf8.h"

#define ATTEMPTS 8
#define NUMBER_SIZE 24

/* Is it the name of a server: postgres://…, postgresql://…, or words with KEY=VALUE? */
static bool store_is_server(const char *where)
{
	const char *equals = strchr(where, '=');

	return !strncmp(where, "postgres://", 11) || !strncmp(where, "postgresql://", 13) ||
	       (equals && !memchr(where, '/', (size_t)(equals - where)) &&
		!memchr(where, '.', (size_t)(equals - where)));
}

bool store_is_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof(magic)];
	struct stat status;
	FILE *stream;
	bool is;

	/* A pipe is not looked into: bytes read here would be missing when it is read as JSON
	 * Lines. */
	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	stream = fopen(path, "re");
	if (!stream)
		return false;
	is = fread(head, 1, sizeof(head), stream) == sizeof(head) &&
	     !memcmp(head, magic, sizeof(magic));
	fclose(stream);
	return is;
}

static int execute(struct store *store, const char *sql, struct report_error *error)
{
	return store->backend->execute(store, sql, NULL, 0, NULL, NULL, error);
}

typedef int transaction_fn(struct store *store, void *arg, struct report_error *error);

/* Runs fn in a transaction, and again from the beginning when another writer was in the way. */
static int transact(struct store *store, const char *begin, transaction_fn *fn, void *arg,
		    struct report_error *error)
{
	struct timespec pause = {0, 10000000};
	int attempt, err = -EAGAIN;

	for (attempt = 0; err == -EAGAIN && attempt < ATTEMPTS; attempt++) {
		if (attempt)
			nanosleep(&pause, NULL);
		pause.tv_nsec *= 2; /* 10 ms to 0.64 s */
		if (pause.tv_nsec > 640000000)
			pause.tv_nsec = 640000000;
		err = execute(store, begin, error);
		if (err)
			continue;
		err = fn(store, arg, error);
		if (!err)
			err = execute(store, "COMMIT", error);
		if (err)
			execute(store, "ROLLBACK", NULL);
	}
	return err;
}

static int prepare(struct store *store, void *arg, struct report_error *error)
{
	return store->backend->prepare(store, *(bool *)arg, error);
}

int store_open(struct store **store, const char *where, bool create, struct report_error *error)
{
	int err = store_is_server(where) ? store_postgres_open(store, where, error)
					 : store_sqlite_open(store, where, create, error);

	if (err)
		return err;
	err = transact(*store, create ? (*store)->backend->begin_write : "BEGIN", prepare, &create,
		       error);
	if (err) {
		store_close(*store);
		*store = NULL;
	}
	return err;
}

void store_close(struct store *store)
{
	if (store)
		store->backend->close(store);
}

#define RANKS 128 /* of a finding, that are told apart */

/* The body of the surest sighting, with lines if any has them, is the one kept; among equals the
 * one that ranks first. */
static int rank(const struct finding *finding)
{
	int rank = 4 * (int)finding->certainty;
	size_t i;

	for (i = 0; i < finding->access_count && i < 2; i++) {
		const struct finding_frame *frame = finding_place_frame(&finding->accesses[i]);

		rank += frame && frame->file && frame->line;
	}
	return rank * RANKS +
	       (finding->rank && finding->rank < RANKS ? RANKS - (int)finding->rank : 0);
}

static int store_body(struct store *store, const struct finding *finding,
		      struct report_error *error)
{
	json_t *json = json_from_finding(finding);
	char *body = json ? json_dumps(json, JSON_COMPACT) : NULL;
	char number[NUMBER_SIZE];
	const char *parameters[] = {finding->id, number, body};
	int err;

	snprintf(number, sizeof(number), "%d", rank(finding));
	if (body)
		err = store->backend->execute(
			store,
			"INSERT INTO trapline_findings (id, rank, body) VALUES ($1, $2, $3) "
			"ON CONFLICT (id) DO UPDATE SET rank = excluded.rank, body = excluded.body "
			"WHERE excluded.rank > trapline_findings.rank",
			parameters, 3, NULL, NULL, error);
	else
		err = report_error(error, -ENOMEM, "memory is short");
	free(body);
	json_decref(json);
	return err;
}

/* The name of the finding's run. A run without a name is told apart by what else is known of it. */
static char *run_name(const struct finding *finding)
{
	char *name = NULL, *clean;

	if (finding->run)
		return utf8_clean(finding->run);
	if (asprintf(&name, "-/%s/%s/%d", finding->host ? finding->host : "",
		     finding->program ? finding->program : "", (int)finding->pid) < 0)
		return NULL;
	clean = utf8_clean(name);
	free(name);
	return clean;
}

static int store_sighting(struct store *store, const struct finding *finding,
			  struct report_error *error)
{
	static const char sql[] =
		"INSERT INTO trapline_sightings (id, run, program, build_id, host, first, last, "
		"count) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id, run) DO UPDATE SET "
		"first = CASE WHEN excluded.first < trapline_sightings.first THEN excluded.first "
		"ELSE trapline_sightings.first END, "
		"last = CASE WHEN excluded.last > trapline_sightings.last THEN excluded.last "
		"ELSE trapline_sightings.last END, "
		"count = CASE WHEN excluded.count > trapline_sightings.count THEN excluded.count "
		"ELSE trapline_sightings.count END";
	char first[NUMBER_SIZE], last[NUMBER_SIZE], count[NUMBER_SIZE];
	char *texts[] = {run_name(finding), utf8_clean(finding->program ? finding->program : ""),
			 utf8_clean(finding->build_id ? finding->build_id : ""),
			 utf8_clean(finding->host ? finding->host : "")};
	const char *parameters[] = {finding->id, texts[0], texts[1], texts[2],
				    texts[3],	 first,	   last,     count};
	uint64_t end = finding->last > finding->time ? finding->last : finding->time;
	int err;

	snprintf(first, sizeof(first), "%" PRIu64, finding->time);
	snprintf(last, sizeof(last), "%" PRIu64, end);
	snprintf(count, sizeof(count), "%" PRIu64, finding->count);
	if (texts[0] && texts[1] && texts[2] && texts[3])
		err = store->backend->execute(store, sql, parameters, 8, NULL, NULL, error);
	else
		err = report_error(error, -ENOMEM, "memory is short");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	return err;
}

static int merge(struct store *store, void *arg, struct report_error *error)
{
	const struct finding_set *set = arg;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < set->count; i++) {
		err = store_body(store, set->findings[i], error);
		if (!err)
			err = store_sighting(store, set->findings[i], error);
	}
	return err;
}

int store_merge(struct store *store, struct finding_set *set, struct report_error *error)
{
	finding_set_sort_by_id(set);
	return transact(store, store->backend->begin_write, merge, set, error);
}

/* The sightings of one id, collected row by row. */
struct gathering {
	const struct query *query;
	char id[FINDING_ID_SIZE];
	struct sighting *sightings;
	size_t count, capacity;
	struct finding_set *selected; /* of findings that have only their id, counts and times */
};

static void free_sightings(struct gathering *gathering)
{
	size_t i;

	for (i = 0; i < gathering->count; i++)
		free((char *)gathering->sightings[i].run); /* holds the other texts too */
	gathering->count = 0;
}

static int compare_texts(const void *first, const void *second)
{
	return strcmp(*(const char *const *)first, *(const char *const *)second);
}

/* How many different texts there are. `member`: the text's offset in struct sighting. If memory is
 * short, the upper bound. */
static unsigned count_distinct(const struct gathering *gathering, size_t member)
{
	const char **texts = calloc(gathering->count, sizeof(*texts));
	unsigned distinct = 0;
	size_t i;

	if (!texts)
		return (unsigned)gathering->count;
	for (i = 0; i < gathering->count; i++)
		texts[i] = *(const char **)((char *)&gathering->sightings[i] + member);
	qsort(texts, gathering->count, sizeof(*texts), compare_texts);
	for (i = 0; i < gathering->count; i++)
		distinct += i == 0 || strcmp(texts[i - 1], texts[i]) != 0;
	free(texts);
	return distinct;
}

static void sum_up(const struct gathering *gathering, struct finding *finding)
{
	size_t i;

	memcpy(finding->id, gathering->id, sizeof(finding->id));
	finding->count = 0;
	finding->time = UINT64_MAX;
	for (i = 0; i < gathering->count; i++) {
		const struct sighting *sighting = &gathering->sightings[i];

		finding->count += sighting->count;
		if (sighting->first < finding->time)
			finding->time = sighting->first;
		if (sighting->last > finding->last)
			finding->last = sighting->last;
	}
	if (finding->count > INT64_MAX)
		finding->count = INT64_MAX;
	finding->runs = (unsigned)gathering->count;
	finding->hosts = count_distinct(gathering, offsetof(struct sighting, host));
	finding->builds = count_distinct(gathering, offsetof(struct sighting, build_id));
}

static int finish_id(struct gathering *gathering, struct report_error *error)
{
	struct finding *finding = NULL;
	int err = 0;

	if (gathering->count &&
	    query_selects_sightings(gathering->query, gathering->sightings, gathering->count)) {
		finding = finding_create("");
		if (finding)
			sum_up(gathering, finding);
		err = finding ? finding_set_add(gathering->selected, finding) : -ENOMEM;
	}
	free_sightings(gathering);
	return err ? report_error(error, err, "memory is short") : 0;
}

static bool add_sighting(struct gathering *gathering, const char *const *values)
{
	size_t lengths[4], total = 0, wanted, i;
	struct sighting *moved;
	char *texts;

	if (gathering->count == gathering->capacity) {
		wanted = gathering->capacity ? gathering->capacity * 2 : 16;
		moved = realloc(gathering->sightings, wanted * sizeof(*moved));
		if (!moved)
			return false;
		gathering->sightings = moved;
		gathering->capacity = wanted;
	}
	for (i = 0; i < 4; i++)
		total += lengths[i] = strlen(values[i + 1]) + 1;
	texts = malloc(total);
	if (!texts)
		return false;
	for (i = 0, total = 0; i < 4; total += lengths[i++])
		memcpy(texts + total, values[i + 1], lengths[i]);
	gathering->sightings[gathering->count++] = (struct sighting){
		.run = texts,
		.program = texts + lengths[0],
		.build_id = texts + lengths[0] + lengths[1],
		.host = texts + lengths[0] + lengths[1] + lengths[2],
		.first = strtoull(values[5], NULL, 10),
		.last = strtoull(values[6], NULL, 10),
		.count = strtoull(values[7], NULL, 10),
	};
	return true;
}

static int check_sighting(size_t columns, const char *const *values, struct report_error *error)
{
	size_t i;

	for (i = 0; i < columns; i++)
		if (!values[i])
			return report_error(error, -EILSEQ,
					    "the store is damaged: a value is missing");
	/* The id is printed without escaping, so it is checked to be hexadecimal digits. */
	if (strlen(values[0]) != FINDING_ID_SIZE - 1 ||
	    strspn(values[0], "0123456789abcdef") != FINDING_ID_SIZE - 1)
		return report_error(error, -EILSEQ, "the store is damaged: '%.40s' is not an id",
				    values[0]);
	return 0;
}

static int gather(void *arg, size_t columns, const char *const *values, struct report_error *error)
{
	struct gathering *gathering = arg;
	int err = check_sighting(columns, values, error);

	if (err)
		return err;
	if (strcmp(gathering->id, values[0])) {
		err = finish_id(gathering, error);
		if (err)
			return err;
		memcpy(gathering->id, values[0], FINDING_ID_SIZE);
	}
	return add_sighting(gathering, values) ? 0
					       : report_error(error, -ENOMEM, "memory is short");
}

static int take_time(void *arg, size_t columns, const char *const *values,
		     struct report_error *error)
{
	(void)columns;
	(void)error;
	*(uint64_t *)arg = values[0] ? strtoull(values[0], NULL, 10) : 0;
	return 0;
}

/* Fills in when each build that the query names was first seen. */
static int resolve_builds(struct store *store, struct query *query, struct report_error *error)
{
	char length[NUMBER_SIZE];
	size_t i;
	int err;

	for (i = 0; i < query->count; i++) {
		struct query_term *term = &query->terms[i];
		const char *parameters[] = {length, term->value};

		if (!query_is_build(term->key))
			continue;
		snprintf(length, sizeof(length), "%zu", strlen(term->value));
		err = store->backend->execute(store,
					      "SELECT min(first) FROM trapline_sightings WHERE "
					      "substr(build_id, 1, CAST($1 AS INTEGER)) = $2",
					      parameters, 2, take_time, &term->time, error);
		if (err)
			return err;
		if (!term->time)
			return report_error(error, -ENOENT,
					    "no run in the store is of build %.100s", term->value);
	}
	return 0;
}

static int parse_body(const char *text, struct finding **finding, struct report_error *error)
{
	struct report_error inner = {""};
	json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	int err = json ? json_to_finding(json, finding, &inner)
		       : report_error(&inner, -EILSEQ, "not JSON");

	json_decref(json);
	return err ? report_error(error, err, "the store is damaged: a finding is bad: %.200s",
				  inner.text)
		   : 0;
}

struct body {
	struct finding *finding;
};

static int take_body(void *arg, size_t columns, const char *const *values,
		     struct report_error *error)
{
	(void)columns;
	return parse_body(values[0], &((struct body *)arg)->finding, error);
}

static int fetch_finding(struct store *store, const struct finding *sum, struct finding **finding,
			 struct report_error *error)
{
	const char *parameters[] = {sum->id};
	struct body body = {NULL};
	int err = store->backend->execute(store, "SELECT body FROM trapline_findings WHERE id = $1",
					  parameters, 1, take_body, &body, error);

	if (!err && !body.finding)
		err = report_error(error, -EILSEQ, "the store is damaged: finding %s is missing",
				   sum->id);
	if (err) {
		finding_destroy(body.finding);
		return err;
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a finding without error */
	memcpy(body.finding->id, sum->id, sizeof(sum->id));
	body.finding->count = sum->count;
	body.finding->time = sum->time;
	body.finding->last = sum->last;
	body.finding->runs = sum->runs;
	body.finding->hosts = sum->hosts;
	body.finding->builds = sum->builds;
	*finding = body.finding;
	return 0;
}

static int fetch_selected(struct store *store, const struct query *query,
			  const struct finding_set *sums, struct finding_set *set,
			  struct report_error *error)
{
	struct finding *finding;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sums->count; i++) {
		err = fetch_finding(store, sums->findings[i], &finding, error);
		if (err)
			break;
		if (!query_selects_finding(query, finding)) {
			finding_destroy(finding);
			continue;
		}
		err = finding_set_add(set, finding);
		if (err)
			report_error(error, err, "memory is short");
	}
	return err;
}

struct selection {
	struct query query;
	struct finding_set *set;
};

static int select_findings(struct store *store, void *arg, struct report_error *error)
{
	struct selection *selection = arg;
	struct gathering gathering = {.query = &selection->query, .selected = finding_set_create()};
	int err = gathering.selected ? resolve_builds(store, &selection->query, error)
				     : report_error(error, -ENOMEM, "memory is short");

	if (!err)
		err = store->backend->execute(
			store,
			"SELECT id, run, program, build_id, host, first, last, count "
			"FROM trapline_sightings ORDER BY id, run",
			NULL, 0, gather, &gathering, error);
	if (!err)
		err = finish_id(&gathering, error);
	if (!err)
		err = fetch_selected(store, &selection->query, gathering.selected, selection->set,
				     error);
	free_sightings(&gathering);
	free(gathering.sightings);
	finding_set_destroy(gathering.selected);
	return err;
}

int store_select(struct store *store, const struct query *query, struct finding_set *set,
		 struct report_error *error)
{
	struct selection selection = {*query, set};
	int err = transact(store, "BEGIN", select_findings, &selection, error);

	if (!err && finding_set_fold(set))
		err = report_error(error, -ENOMEM, "memory is short");
	return err;
}

static const char *text_or_null(struct finding *finding, const char *text)
{
	return *text ? finding_string(finding, text) : NULL;
}

/* Clears the fields of a stored finding that were true of the run that stored it, not of this
 * one. */
static void forget_run(struct finding *finding)
{
	finding->pid = 0;
	finding->occurrence_count = 0;
	for (size_t i = 0; i < finding->access_count; i++)
		finding->accesses[i].time = 0;
}

static void become_sighting(struct finding *finding, const char *const *values)
{
	char *kept = run_name(finding);

	if (!kept || strcmp(kept, values[1]) != 0)
		forget_run(finding);
	free(kept);
	memcpy(finding->id, values[0], FINDING_ID_SIZE);
	finding->run = text_or_null(finding, values[1]);
	finding->program = text_or_null(finding, values[2]);
	finding->build_id = text_or_null(finding, values[3]);
	finding->host = text_or_null(finding, values[4]);
	finding->time = strtoull(values[5], NULL, 10);
	finding->last = strtoull(values[6], NULL, 10);
	finding->count = strtoull(values[7], NULL, 10);
	if (finding->count > INT64_MAX)
		finding->count = INT64_MAX;
	finding->runs = finding->hosts = finding->builds = 0;
}

static int take_sighting(void *arg, size_t columns, const char *const *values,
			 struct report_error *error)
{
	struct finding *finding = NULL;
	int err = check_sighting(columns, values, error);

	if (!err)
		err = parse_body(values[8], &finding, error);
	if (err) {
		finding_destroy(finding);
		return err;
	}
	become_sighting(finding, values);
	err = finding_set_add(arg, finding);
	return err ? report_error(error, err, "memory is short") : 0;
}

static int read_sightings(struct store *store, void *arg, struct report_error *error)
{
	return store->backend->execute(
		store,
		"SELECT s.id, s.run, s.program, s.build_id, s.host, s.first, s.last, s.count, "
		"f.body FROM trapline_sightings s LEFT JOIN trapline_findings f ON f.id = s.id "
		"ORDER BY s.id, s.run",
		NULL, 0, take_sighting, arg, error);
}

int store_read(struct store *store, struct finding_set *set, struct report_error *error)
{
	return transact(store, "BEGIN", read_sightings, set, error);
}
