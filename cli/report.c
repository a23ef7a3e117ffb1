/* SPDX-License-Identifier: Apache-2.0 */
/* trapline report: symbolise, merge, deduplicate and render findings. */
#include "cli/report.h"
#include "cli/command.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jsonl/jsonl.h"
#include "report/origin.h"
#include "report/redact.h"
#include "store/store.h"
#include "suppression/suppressions.h"
#include "report/symbolise.h"
#include "record/utf8.h"
#include "reader/open.h"

#define BAD_LINES_TOLD 10 /* bad lines of a file that are told one by one; the rest are counted */
#define STATUS_NEW 3	  /* with --baseline: something was found that the baseline lacks */
#define UNREAD (-1)	  /* no exit status: a file could not be read to its end */

struct work {
	const struct report_options *options;
	struct report_context context;
	struct symboliser *symboliser;
	struct suppressions *suppressions;
	struct finding_set *set;
	uint64_t suppressed;
	/* some input was missing or was no finding; the rest is reported all the same */
	bool incomplete;
};

static int complain(const struct report_error *error)
{
	/* The text is escaped: it may quote a hostile file. */
	utf8_fprintf(stderr, "trapline report: %s\n", error->text);
	return STATUS_FAILED;
}

static int out_of_memory(void)
{
	fputs("trapline report: memory is short\n", stderr);
	return STATUS_FAILED;
}

static int take_finding(struct work *work, struct finding_set *set, struct finding *finding)
{
	int err = symbolise(work->symboliser, finding);

	if (!err)
		err = origins_note(work->context.origins, finding);
	if (err) {
		finding_destroy(finding);
		return out_of_memory();
	}
	return finding_set_add(set, finding) ? out_of_memory() : 0;
}

/* Is the aim's run known already? The same run may be in several files. */
static bool has_aim(const struct report_aims *aims, const struct aim_told *told)
{
	for (size_t i = 0; i < aims->count; i++)
		if (strcmp(aims->told[i].id, told->id) == 0 &&
		    strcmp(aims->told[i].run, told->run) == 0)
			return true;
	return false;
}

static int take_aims(struct report_aims *aims, const struct jsonl_reader *reader)
{
	const struct aim_told *told;

	for (size_t i = 0; (told = jsonl_reader_aim(reader, i)); i++) {
		if (has_aim(aims, told))
			continue;
		if (aims->count == aims->capacity) {
			size_t capacity = aims->capacity ? 2 * aims->capacity : 16;
			struct aim_told *grown = realloc(aims->told, capacity * sizeof(*grown));

			if (!grown)
				return out_of_memory();
			aims->told = grown;
			aims->capacity = capacity;
		}
		aims->told[aims->count++] = *told;
	}
	return 0;
}

/* Says why a line of a file is no finding. */
static void tell_bad_line(const struct report_error *error, uint64_t *bad)
{
	if ((*bad)++ < BAD_LINES_TOLD)
		complain(error);
}

static void tell_more_bad_lines(const char *name, uint64_t bad)
{
	uint64_t more = bad > BAD_LINES_TOLD ? bad - BAD_LINES_TOLD : 0;

	if (more)
		utf8_fprintf(stderr, "trapline report: %s: %" PRIu64 " more %s\n", name, more,
			     more == 1 ? "line is no finding" : "lines are no findings");
}

static int read_stream(struct work *work, struct finding_set *set, FILE *stream, const char *name)
{
	struct jsonl_reader *reader = jsonl_reader_create(stream, name);
	struct report_error error;
	struct finding *finding;
	int result = reader ? 1 : -ENOMEM, status = reader ? 0 : out_of_memory();
	uint64_t bad = 0;

	while (!status && result) {
		result = jsonl_read(reader, &finding, &error);
		if (result > 0)
			status = take_finding(work, set, finding);
		else if (result == -EILSEQ)
			tell_bad_line(&error, &bad);
		else if (result < 0)
			complain(&error);
		work->incomplete |= result == -EILSEQ || result == -ENOMEM;
		if (result < 0 && result != -EILSEQ && result != -ENOMEM && result != -ENODATA)
			status = UNREAD;
		if (result == -ENODATA)
			break;
	}
	tell_more_bad_lines(name, bad);
	if (reader && !status && set == work->set)
		status = take_aims(&work->context.aims, reader);
	jsonl_reader_destroy(reader);
	return status;
}

/* Reads what the query selects, folded; without a query, everything, run by run. */
static int read_store(const char *path, const struct query *query, struct finding_set *set)
{
	struct report_error error;
	struct store *store;
	int err = store_open(&store, path, false, &error);

	if (err)
		return complain(&error);
	err = query ? store_select(store, query, set, &error) : store_read(store, set, &error);
	store_close(store);
	return err ? complain(&error) : 0;
}

/* Reads a database run by run, so that a run counts once even if a file or another store has it
 * too. */
static int read_database(struct work *work, struct finding_set *set, const char *path)
{
	struct finding_set *inner = finding_set_create();
	int status = inner ? 0 : out_of_memory();
	size_t i;

	if (inner && read_store(path, NULL, inner))
		status = UNREAD;

	for (i = 0; inner && !status && i < inner->count; i++) {
		struct finding *finding = inner->findings[i];

		inner->findings[i] = NULL;
		status = take_finding(work, set, finding);
	}
	finding_set_destroy(inner);
	return status;
}

/* 0; UNREAD; or an exit status with which nothing is reported. */
static int read_file(struct work *work, struct finding_set *set, const char *path)
{
	FILE *stream;
	int status;

	finding_set_next_file(set);
	if (!strcmp(path, "-"))
		return read_stream(work, set, stdin, "standard input");
	if (store_is_database(path))
		return read_database(work, set, path);
	stream = fopen(path, "re");
	if (!stream) {
		utf8_fprintf(stderr, "trapline report: cannot open %s: %s\n", path,
			     strerror(errno));
		return UNREAD;
	}
	status = read_stream(work, set, stream, path);
	fclose(stream);
	return status;
}

/* Reads all files. If one cannot be read to its end, what was read of it and of the others is
 * reported all the same. */
static int read_files(struct work *work)
{
	int unread = 0, count = work->options->file_count;

	for (int i = 0; i < count; i++) {
		int status = read_file(work, work->set, work->options->files[i]);

		if (status && status != UNREAD)
			return status;
		unread += status == UNREAD;
	}
	work->incomplete |= unread > 0;
	return unread && unread == count && !work->set->count ? STATUS_FAILED : 0;
}

/* Called after findings were chosen by their true names, and before any of them is written. */
static int redact_all(const struct work *work)
{
	for (size_t i = 0; work->options->redact && i < work->set->count; i++)
		if (finding_redact(work->set->findings[i]))
			return out_of_memory();
	return 0;
}

static int merge_into_store(const struct work *work)
{
	struct report_error error;
	struct store *store;
	int err = redact_all(work);

	if (err)
		return err;
	err = store_open(&store, work->options->store, true, &error);
	if (err)
		return complain(&error);
	err = store_merge(store, work->set, &error);
	store_close(store);
	if (err)
		return complain(&error);
	utf8_fprintf(stderr, "trapline report: merged %zu finding%s into the store\n",
		     work->set->count, work->set->count == 1 ? "" : "s");
	return 0;
}

typedef bool keep_fn(void *arg, const struct finding *finding);

static void filter(struct finding_set *set, keep_fn *keep, void *arg)
{
	size_t from, to;

	for (from = to = 0; from < set->count; from++) {
		if (keep(arg, set->findings[from]))
			set->findings[to++] = set->findings[from];
		else
			finding_destroy(set->findings[from]);
	}
	set->count = to;
}

static bool is_selected(void *arg, const struct finding *finding)
{
	return query_selects(arg, finding);
}

static bool is_not_suppressed(void *arg, const struct finding *finding)
{
	struct work *work = arg;

	if (!suppressions_match(work->suppressions, finding))
		return true;
	work->suppressed++;
	return false;
}

static bool is_new(void *arg, const struct finding *finding)
{
	return !finding_set_contains(arg, finding->id);
}

static int apply_baseline(struct work *work)
{
	struct finding_set *baseline = finding_set_create();
	int status = baseline ? read_file(work, baseline, work->options->baseline)
			      : out_of_memory();

	if (status == UNREAD)
		status = STATUS_FAILED;
	if (!status && finding_set_fold(baseline))
		status = out_of_memory();
	if (!status)
		filter(work->set, is_new, baseline);
	finding_set_destroy(baseline);
	return status;
}

static int check_queries(const struct report_options *options)
{
	size_t i;

	for (i = 0; i < options->query.count; i++) {
		if (!options->store && query_is_build(options->query.terms[i].key)) {
			fputs("trapline report: new-since-build and gone-since-build need a store, "
			      "which knows when builds were seen; add --store\n",
			      stderr);
			return STATUS_USAGE;
		}
	}
	return 0;
}

/* Puts what is to be reported into work->set, folded. */
static int gather(struct work *work)
{
	const struct report_options *options = work->options;
	int status = read_files(work);

	if (!status && options->store && options->file_count) {
		status = merge_into_store(work);
		finding_set_destroy(work->set);
		work->set = finding_set_create();
		if (!work->set)
			return out_of_memory();
	}
	if (status)
		return status;
	if (options->store) {
		finding_set_next_file(work->set);
		return read_store(options->store, &options->query, work->set);
	}
	if (finding_set_fold(work->set))
		return out_of_memory();
	filter(work->set, is_selected, (void *)&options->query);
	return 0;
}

/* Was the command only asked to merge findings into a store? Then it prints none. */
static bool is_only_merging(const struct report_options *options)
{
	return options->store && options->file_count && !options->query.count && !options->output &&
	       !options->format && !options->baseline && options->error_exitcode < 0;
}

static int merge_only(struct work *work)
{
	int status = read_files(work);

	return status ? status : merge_into_store(work);
}

static void say_unused(const char *place, const char *text, uint64_t hidden, void *arg)
{
	(void)arg;
	if (!hidden)
		utf8_fprintf(stderr, "trapline report: %s: this rule hid nothing: %s\n", place,
			     text);
}

static int load_suppressions(struct work *work)
{
	struct report_error error;
	unsigned i;

	for (i = 0; i < work->options->suppression_count; i++)
		if (suppressions_read(work->suppressions, work->options->suppressions[i], &error))
			return complain(&error);
	return 0;
}

static void say_ambiguous(const struct work *work)
{
	const char *path = symbol_session_ambiguous_source(work->context.symbols);

	if (path)
		utf8_fprintf(stderr,
			     "trapline report: %" PRIu64
			     " source files were not used: several of those "
			     "given fit, of '%s' for one\n",
			     symbol_session_statistic(work->context.symbols,
						      SYMBOL_STATISTIC_SOURCES_AMBIGUOUS),
			     path);
}

static int report_all(struct work *work)
{
	const struct report_options *options = work->options;
	int status = load_suppressions(work);

	if (!status)
		status = gather(work);
	if (status)
		return status;
	filter(work->set, is_not_suppressed, work);
	if (work->suppressed)
		utf8_fprintf(stderr, "trapline report: %" PRIu64 " findings suppressed\n",
			     work->suppressed);
	suppressions_each(work->suppressions, say_unused, NULL);
	if (options->baseline)
		status = apply_baseline(work);
	if (!status)
		status = redact_all(work);
	if (status)
		return status;
	if (options->issue && !work->set->count) {
		utf8_fprintf(
			stderr,
			"trapline report: no finding has the id %s; --format summary lists them\n",
			options->issue);
		return STATUS_FAILED;
	}
	if (!report_output(options, work->set, &work->context))
		return STATUS_FAILED;
	say_ambiguous(work);
	if (work->incomplete)
		return STATUS_FAILED;
	if (!work->set->count)
		return STATUS_OK;
	if (options->error_exitcode >= 0)
		return options->error_exitcode;
	return options->baseline ? STATUS_NEW : STATUS_OK;
}

/* Complains of a folder that does not exist: nothing would be found in it, and nobody would be told
 * why. */
static void check_folders(struct work *work, const char *option, const char *const *folders)
{
	for (; *folders; folders++) {
		DIR *folder = opendir(*folders);

		if (folder) {
			closedir(folder);
			continue;
		}
		utf8_fprintf(stderr, "trapline report: --%s '%s' cannot be read: %s\n", option,
			     *folders, strerror(errno));
		work->incomplete = true;
	}
}

static int run(struct work *work)
{
	struct symbol_options symbols = {
		.size = sizeof(symbols),
		.debug_directories = work->options->symbols,
		.source_directories = work->options->source_directories,
		.reader = SYMBOL_READER_SELF,
	};
	int status;

	check_folders(work, "symbols", work->options->symbols);
	check_folders(work, "sources", work->options->source_directories);
	work->set = finding_set_create();
	work->suppressions = suppressions_create();
	work->context.origins = origins_create();
	if (!work->set || !work->suppressions || !work->context.origins ||
	    symbol_session_open(&work->context.symbols, &symbols) ||
	    symboliser_create(&work->symboliser, work->context.symbols))
		return out_of_memory();
	if (work->options->symbol_count || work->options->source_count)
		symboliser_judge_all(work->symboliser);
	if (!is_only_merging(work->options))
		return report_all(work);
	status = merge_only(work);
	return !status && work->incomplete ? STATUS_FAILED : status;
}

int command_report(int argc, char **argv)
{
	struct report_options options;
	struct work work = {.options = &options};
	int status = report_parse_options(&options, argc, argv);

	if (status)
		return status < 0 ? STATUS_OK : status;
	status = check_queries(&options);
	if (status)
		return status;
	status = run(&work);
	symboliser_destroy(work.symboliser);
	symbol_session_close(work.context.symbols);
	suppressions_destroy(work.suppressions);
	origins_destroy(work.context.origins);
	finding_set_destroy(work.set);
	free(work.context.aims.told);
	return status;
}
