/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/detect.h"

#include "cli/background.h"
#include "cli/beside.h"
#include "cli/command.h"
#include "cli/companion.h"
#include "cli/detect_options.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/summary.h"
#include "cli/unwatched.h"
#include "report/group.h"
#include "report/jsonl.h"
#include "report/suppressions.h"
#include "report/text.h"
#include "tool/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct detection {
	struct detect_options options;
	struct tl_host *host;
	struct suppressions *suppressions;
	struct output output;
	FILE *generated;
	unsigned shown;
	unsigned suppressed;
	struct progress progress;
};

static bool is_shown(const struct detection *detection, const struct finding *finding)
{
	return finding->certainty != FINDING_POSSIBLE || detection->options.show_all;
}

static void show(struct detection *detection, const struct finding *finding)
{
	struct text_options text = {.color = text_wants_color(stderr), .sources = true};

	progress_clear(&detection->progress);
	text_write(program_messages(), finding, &text);
	fflush(program_messages());
	detection->shown++;
	if (detection->generated) {
		suppressions_generate(detection->generated, finding);
		fflush(detection->generated);
	}
}

/* The file gets every class: `class` tells them apart, and hiding is for the terminal. */
static bool deliver(void *context, struct finding *finding)
{
	struct detection *detection = context;

	if (suppressions_match(detection->suppressions, finding)) {
		detection->suppressed++;
		return true;
	}
	if (detection->output.file)
		output_write(&detection->output, finding);
	if (is_shown(detection, finding))
		show(detection, finding);
	return false;
}

static void tick(void *context)
{
	struct detection *detection = context;
	unsigned shown = 0, hidden = 0;
	struct finding *finding;

	if (!progress_is_due(&detection->progress))
		return;
	for (size_t i = 0; (finding = host_finding(detection->host, i)); i++) {
		if (is_shown(detection, finding))
			shown++;
		else
			hidden++;
	}
	progress_draw(&detection->progress, shown, hidden,
		      control_cost(host_control(detection->host)));
}

static int open_outputs(struct detection *detection)
{
	struct detect_options *options = &detection->options;
	struct report_error error;

	detection->suppressions = suppressions_create();
	for (unsigned i = 0; i < options->suppressions_count; i++)
		if (suppressions_read(detection->suppressions, options->suppressions[i], &error)) {
			fprintf(stderr, "trapline: %s\n", error.text);
			return STATUS_FAILED;
		}
	if (options->output && !output_open(&detection->output, options->output))
		return STATUS_FAILED;
	if (options->generate && strcmp(options->generate, "-") == 0)
		detection->generated = program_messages();
	else if (options->generate &&
		 !(detection->generated = program_open_output(options->generate)))
		return STATUS_FAILED;
	return STATUS_OK;
}

static bool write_all(const struct detection *detection, FILE *stream)
{
	struct finding *finding;
	bool complete = true;

	for (size_t i = 0; (finding = host_finding(detection->host, i)); i++)
		if (!suppressions_match(detection->suppressions, finding) &&
		    jsonl_write(stream, finding))
			complete = false;
	return !fflush(stream) && !ferror(stream) && complete;
}

static char *output_path(const struct detection *detection, struct stat *status)
{
	if (!detection->output.file || fstat(fileno(detection->output.file), status) ||
	    !S_ISREG(status->st_mode) || status->st_nlink != 1)
		return NULL;
	return realpath(detection->options.output, NULL);
}

/*
 * Once more at an end, in place of what was written on the way: now with final counts. What was
 * written stays where that fails, for want of room or of permission to make a file there.
 */
static void rewrite_output(void *context)
{
	struct detection *detection = context;
	struct stat status;
	char *path = host_finding(detection->host, 0) ? output_path(detection, &status) : NULL;
	char *beside = NULL;
	FILE *stream = path ? program_open_beside(path, &beside) : NULL;

	if (stream && write_all(detection, stream) && !fchmod(fileno(stream), status.st_mode) &&
	    !rename(beside, path)) {
		fclose(detection->output.file);
		detection->output.file = stream;
		detection->output.lost = 0;
	} else if (stream) {
		unlink(beside);
		fclose(stream);
	}
	free(beside);
	free(path);
}

/* What is to be shown, in the order of importance; the caller frees. */
static struct finding **list_shown(const struct detection *detection, size_t *count,
				   unsigned *hidden)
{
	struct finding **shown, *finding;
	size_t all = 0;

	while (host_finding(detection->host, all))
		all++;
	shown = calloc(all + 1, sizeof(struct finding *));
	*count = 0;
	for (size_t i = 0; shown && (finding = host_finding(detection->host, i)); i++) {
		if (suppressions_match(detection->suppressions, finding))
			continue;
		if (is_shown(detection, finding))
			shown[(*count)++] = finding;
		else
			(*hidden)++;
	}
	if (shown)
		finding_groups_sort(shown, *count); /* or as they came, when memory is short */
	return shown;
}

static void summarise(struct detection *detection)
{
	struct summary summary = {.stream = program_messages()};
	struct finding **shown;
	size_t count;

	shown = list_shown(detection, &count, &summary.hidden);
	for (size_t i = 0; i < count; i++)
		summary_add(&summary, shown[i]);
	free(shown);
	if (detection->suppressed && summary.lines)
		fprintf(summary.stream, "trapline: suppressed %u times\n", detection->suppressed);
	summary_end(&summary);
	fflush(summary.stream);
}

static int exit_status(const struct detection *detection, int status)
{
	if (detection->shown && detection->options.error_exitcode >= 0)
		return detection->options.error_exitcode;
	return program_exit_status(status);
}

static enum program_library library_of(const struct detect_options *options)
{
	return options->control.allocations ? PROGRAM_LIBRARY_HEAP : PROGRAM_LIBRARY_PLAIN;
}

/* A program that made the area itself is under way already (src/agent/companion.c). */
static int spawn(struct detection *detection)
{
	char **program = detection->options.program;
	pid_t pid = program_spawn(host_control(detection->host), program,
				  library_of(&detection->options), detection->options.patchable);

	if (pid < 0)
		return program_cannot_run(program[0], (int)pid);
	program_forward_signals(pid);
	return STATUS_OK;
}

static void print_statistics(const struct detection *detection)
{
	struct statistics statistics = {.count = 0};

	host_counts(detection->host, statistics_add, &statistics);
	statistics_print(&statistics, detection->options.stats, stderr);
}

/* With what the program left behind, in the background. */
static void go_on(struct detection *detection, int status)
{
	const struct background how = {.program = detection->options.program[0],
				       .foreground = detection->options.foreground,
				       .quiet = detection->options.quiet,
				       .to_file = detection->options.output};

	progress_begin(&detection->progress, !how.foreground || how.quiet);
	background_go_on(host_control(detection->host), &how, exit_status(detection, status));
	progress_clear(&detection->progress);
}

static int run(struct detection *detection)
{
	int status = detection->options.program ? spawn(detection) : STATUS_OK;

	if (status)
		return status;
	progress_begin(&detection->progress,
		       detection->options.quiet || !detection->options.program);
	status = control_run(host_control(detection->host));
	progress_clear(&detection->progress);
	if (detection->options.program)
		go_on(detection, status);
	control_finish(host_control(detection->host));
	if (detection->options.program)
		unwatched_tell(host_control(detection->host), "nothing was watched");
	host_finish(detection->host);
	rewrite_output(detection);
	if (!detection->options.quiet)
		summarise(detection);
	print_statistics(detection);
	return exit_status(detection, status);
}

static int begin(struct detection *detection, const struct tl_tool *tool, const char *program)
{
	struct host_options host = {.control = &detection->options.control,
				    .raw = detection->options.raw,
				    .program = program,
				    .tool_options = detection->options.tool_option,
				    .process_ended = rewrite_output,
				    .tick = tick};
	int err = host_create(&detection->host, tool, &host, deliver, detection);

	if (err >= 0)
		return STATUS_OK;
	fprintf(stderr, "trapline: cannot start: %s\n", strerror(-err));
	return STATUS_FAILED;
}

static int close_generated(const struct detection *detection, int status)
{
	FILE *file = detection->generated;
	bool failed;

	if (!file || file == program_messages())
		return status;
	failed = ferror(file);
	if (!fclose(file) && !failed)
		return status;
	fprintf(stderr, "trapline: %s could not be written in full\n", detection->options.generate);
	return status == STATUS_OK ? STATUS_FAILED : status;
}

/* The status to end with. */
static int end(struct detection *detection, int status)
{
	if (detection->host)
		host_destroy(detection->host);
	status = output_close(&detection->output, status);
	suppressions_destroy(detection->suppressions);
	return close_generated(detection, status);
}

static int run_beside(struct detection *detection, char **argv)
{
	if (detection->options.patchable && !program_ask_to_listen())
		return STATUS_FAILED;
	return beside_run(argv, detection->options.program,
			  program_preload_library(library_of(&detection->options)));
}

static int run_program(struct detection *detection, const struct tl_tool *tool, char **argv)
{
	char **program = detection->options.program;
	char *reason = program_cannot_be_watched(program[0]);
	int status;

	if (reason) {
		fprintf(stderr, "trapline: %s; running it bare\n", reason);
		return program_run_bare(program);
	}
	if (detection->options.beside)
		return run_beside(detection, argv);
	status = open_outputs(detection);
	if (!status)
		status = begin(detection, tool, program_path(program[0]));
	if (!status)
		status = run(detection);
	return end(detection, status);
}

/* Beside a program that was started without us. */
static int run_companion(struct detection *detection, const struct tl_tool *tool)
{
	char *program = NULL;
	int status = companion_begin(&detection->options, &program);

	if (!status)
		status = open_outputs(detection);
	if (!status)
		status = begin(detection, tool, program);
	if (!status) {
		companion_settle(&detection->options, host_control(detection->host));
		status = run(detection);
	}
	status = end(detection, status);
	free(program);
	return status;
}

int detect_run(int argc, char **argv, const struct tl_tool *tool)
{
	struct detection detection = {0};
	int status = detect_options_parse(&detection.options, argc, argv);

	if (status)
		return status == 1 ? STATUS_OK : STATUS_USAGE;
	if (!tool && !detection.options.tool) {
		fputs("trapline: which tool? `trapline run --tool ./mine.so -- PROGRAM`\n", stderr);
		return STATUS_USAGE;
	}
	if (detection.options.tool && !(tool = tool_load(detection.options.tool)))
		return STATUS_FAILED;
	return detection.options.program ? run_program(&detection, tool, argv)
					 : run_companion(&detection, tool);
}
