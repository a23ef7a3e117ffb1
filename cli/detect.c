/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/detect.h"

#include "account/account.h"
#include "cli/aim.h"
#include "cli/attach.h"
#include "cli/background.h"
#include "cli/beside.h"
#include "cli/command.h"
#include "cli/companion.h"
#include "cli/detect_options.h"
#include "cli/generated.h"
#include "cli/golang.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/refuse.h"
#include "cli/summary.h"
#include "cli/unwatched.h"
#include "record/utf8.h"
#include "store/group.h"
#include "jsonl/jsonl.h"
#include "suppression/known.h"
#include "suppression/suppressions.h"
#include "report/text.h"
#include "cli/tools.h"
#include "tool/set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct detection {
	struct detect_options options;
	struct tool_set *tools;
	struct tools_chosen chosen;
	const struct detect_view *view; /* NULL: findings are printed one by one */
	struct suppressions *suppressions;
	struct suppressions *known; /* races of runtimes: suppression/known.supp */
	struct aiming *aiming;	    /* of --aim; NULL: none */
	struct output output;
	struct generated generated;
	unsigned shown;
	unsigned suppressed;
	unsigned hidden_known;
	bool refused; /* a tool could not do what it was asked, and the program never began */
	struct progress progress;
};

/* Is the finding one of those that known.supp knows? Then the finding is marked so. */
static bool is_known(const struct detection *detection, struct finding *finding)
{
	const char *rule;

	if (finding_detail(finding, KNOWN_DETAIL))
		return true;
	rule = suppressions_match(detection->known, finding);
	return rule && !finding_add_detail(finding, KNOWN_DETAIL, rule);
}

static bool is_shown(const struct detection *detection, struct finding *finding)
{
	if (is_known(detection, finding) && !detection->options.show_known)
		return false;
	return finding->certainty != FINDING_POSSIBLE || detection->options.show_all;
}

static void show(struct detection *detection, const struct finding *finding)
{
	struct text_options text = {.color = text_wants_color(stderr), .sources = true};

	detection->shown++;
	if (!detection->view) {
		progress_clear(&detection->progress);
		text_write(program_messages(), finding, &text);
		fflush(program_messages());
	}
	generated_add(&detection->generated, finding);
}

/* Takes a finding. The file of --output gets findings of every class, with `class` to tell them
 * apart; classes are hidden only from the terminal. */
static bool deliver(void *context, struct finding *finding)
{
	struct detection *detection = context;

	if (detection->aiming)
		aim_recognise(&detection->aiming->list, finding);
	if (suppressions_match(detection->suppressions, finding)) {
		detection->suppressed++;
		return true;
	}
	if (is_known(detection, finding) && !detection->options.show_known)
		detection->hidden_known++;
	if (detection->output.file && !(detection->view && detection->view->write))
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
	for (size_t i = 0; (finding = tool_set_finding(detection->tools, i)); i++) {
		if (is_shown(detection, finding))
			shown++;
		else if (!is_known(detection, finding))
			hidden++;
	}
	progress_draw(&detection->progress, shown, hidden,
		      account_cost(control_program(tool_set_control(detection->tools))));
}

static int open_outputs(struct detection *detection)
{
	struct detect_options *options = &detection->options;
	struct report_error error;

	/* The findings to aim at are read before the output is emptied, since both may be the same
	 * file. */
	if (options->aim && !(detection->aiming = aiming_read(options->aim)))
		return STATUS_FAILED;
	options->control.aims = detection->aiming ? &detection->aiming->list : NULL;

	detection->suppressions = suppressions_create();
	detection->known = known_create();
	if (!detection->suppressions || !detection->known) {
		fputs("trapline: memory is short\n", stderr);
		return STATUS_FAILED;
	}
	for (unsigned i = 0; i < options->suppressions_count; i++)
		if (suppressions_read(detection->suppressions, options->suppressions[i], &error)) {
			utf8_fprintf(stderr, "trapline: %s\n", error.text);
			return STATUS_FAILED;
		}
	if (options->output && !output_open(&detection->output, options->output))
		return STATUS_FAILED;
	return generated_open(&detection->generated, options->generate) ? STATUS_OK : STATUS_FAILED;
}

/* Returns the findings that are shown, most important first; the caller frees the list. */
static struct finding **list_shown(const struct detection *detection, size_t *count,
				   unsigned *hidden)
{
	struct finding **shown, *finding;
	size_t all = 0;

	while (tool_set_finding(detection->tools, all))
		all++;
	shown = calloc(all + 1, sizeof(struct finding *));
	*count = 0;
	for (size_t i = 0; shown && (finding = tool_set_finding(detection->tools, i)); i++) {
		if (suppressions_match(detection->suppressions, finding))
			continue;
		if (is_shown(detection, finding))
			shown[(*count)++] = finding;
		else if (!is_known(detection, finding))
			(*hidden)++;
	}
	if (shown)
		/* If memory is short the order stays as they came. */
		finding_groups_sort(shown, *count);
	return shown;
}

typedef void write_fn(void *context, FILE *stream, struct finding *const *findings, size_t count);

static void write_view(const struct detection *detection, write_fn *write, FILE *stream)
{
	unsigned hidden = 0;
	size_t count;
	struct finding **shown = list_shown(detection, &count, &hidden);

	if (shown)
		write(detection->view->context, stream, shown, count);
	free(shown);
}

static void settle_aims(const struct detection *detection)
{
	const struct finding *finding;

	for (size_t i = 0; (finding = tool_set_finding(detection->tools, i)); i++)
		aiming_settle(detection->aiming, finding);
}

static bool write_aims(const struct detection *detection, FILE *stream)
{
	if (!detection->aiming)
		return true;
	settle_aims(detection);
	return aiming_write(detection->aiming, stream, tool_set_run(detection->tools));
}

static bool write_all(const struct detection *detection, FILE *stream)
{
	struct finding *finding;
	bool complete = true;

	if (detection->view && detection->view->write) {
		write_view(detection, detection->view->write, stream);
		return !fflush(stream) && !ferror(stream);
	}
	for (size_t i = 0; (finding = tool_set_finding(detection->tools, i)); i++) {
		/* A repeat may have replaced the finding since the rules were asked, and does not
		 * bear the mark yet. */
		is_known(detection, finding);
		if (!suppressions_match(detection->suppressions, finding) &&
		    jsonl_write(stream, finding))
			complete = false;
	}
	complete &= write_aims(detection, stream);
	return !fflush(stream) && !ferror(stream) && complete;
}

static char *output_path(const struct detection *detection, struct stat *status)
{
	if (!detection->output.file || fstat(fileno(detection->output.file), status) ||
	    status->st_nlink != 1)
		return NULL;
	return output_file_replaceable(detection->options.output);
}

/*
 * At the end the output is written anew with final counts, in place of what was written during the
 * run. If that fails, for lack of room or of permission to make a file there, what was written
 * stays.
 */
static void rewrite_output(void *context)
{
	struct detection *detection = context;
	struct stat status;
	bool has_any = tool_set_finding(detection->tools, 0) || detection->aiming;
	char *path = has_any ? output_path(detection, &status) : NULL;
	char *beside = NULL;
	FILE *stream = path ? output_file_open_beside(path, &beside) : NULL;

	if (stream && write_all(detection, stream) &&
	    output_file_replace(path, &status, beside, stream)) {
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

static void read_statistics(const struct detection *detection, struct statistics *statistics)
{
	tool_set_counts(detection->tools, statistics_add, statistics);
	statistics_add(statistics, "hidden-known", detection->hidden_known,
		       "findings that a rule of those that come with trapline knows");
}

static void summarise(struct detection *detection)
{
	struct statistics statistics = {.count = 0};
	struct summary summary = {.stream = program_messages(), .known = detection->hidden_known};
	struct finding **shown;
	size_t count;

	if (detection->view) {
		write_view(detection, detection->view->show, program_messages());
		fflush(program_messages());
		return;
	}
	shown = list_shown(detection, &count, &summary.hidden);
	for (size_t i = 0; i < count; i++)
		summary_add(&summary, shown[i]);
	free(shown);
	if (detection->suppressed && summary.lines)
		fprintf(summary.stream, "trapline: suppressed %u times\n", detection->suppressed);
	if (detection->aiming) {
		settle_aims(detection);
		aiming_show(detection->aiming, summary.stream);
	}
	read_statistics(detection, &statistics);
	summary_end(&summary, &statistics);
	fflush(summary.stream);
}

static void refuse(void *context, pid_t pid)
{
	struct detection *detection = context;

	detection->refused =
		refuse_process(tool_set_control(detection->tools), pid, &detection->options);
}

static int exit_status(const struct detection *detection, int status)
{
	bool found = detection->aiming ? aiming_succeeded(detection->aiming) : detection->shown;

	if (detection->refused)
		return STATUS_USAGE;
	if (found && detection->options.error_exitcode >= 0)
		return detection->options.error_exitcode;
	return program_exit_status(status);
}

/* A stream that is no file cannot be written anew: a view is written to it once, at the end. */
static void write_stream(struct detection *detection)
{
	struct stat status;
	char *path = output_path(detection, &status);

	if (!path && detection->output.file && detection->view && detection->view->write)
		write_all(detection, detection->output.file);
	else if (!path && detection->output.file && write_aims(detection, detection->output.file))
		fflush(detection->output.file);
	free(path);
}

static enum program_library library_of(const struct detection *detection)
{
	for (unsigned i = 0; i < detection->chosen.count; i++)
		if (tools_wants_guards(detection->chosen.tool[i]))
			return PROGRAM_LIBRARY_GUARD;
	return detection->options.control.allocations ? PROGRAM_LIBRARY_HEAP
						      : PROGRAM_LIBRARY_PLAIN;
}

/* Starts the program, unless it made the area itself and runs already (src/life/companion.c). */
static int spawn(struct detection *detection)
{
	char **program = detection->options.program;
	pid_t pid = program_spawn(tool_set_control(detection->tools), program,
				  library_of(detection), detection->options.patchable);

	if (pid < 0)
		return program_cannot_run(program[0], (int)pid);
	program_forward_signals(pid);
	return STATUS_OK;
}

static void print_statistics(const struct detection *detection)
{
	struct statistics statistics = {.count = 0};

	read_statistics(detection, &statistics);
	statistics_print(&statistics, detection->options.stats, stderr);
}

/* Goes on in the background with the processes that the program left behind. */
static void go_on(struct detection *detection, int status)
{
	const struct background how = {.program = detection->options.program[0],
				       .foreground = detection->options.foreground,
				       .quiet = detection->options.quiet,
				       .to_file = detection->options.output};

	progress_begin(&detection->progress, !how.foreground || how.quiet);
	background_go_on(tool_set_control(detection->tools), &how, exit_status(detection, status));
	progress_clear(&detection->progress);
}

static void tell(struct detection *detection)
{
	if (detection->options.program)
		unwatched_tell(tool_set_control(detection->tools), "nothing was watched");
	tool_set_finish(detection->tools);
	rewrite_output(detection);
	write_stream(detection);
	if (!detection->options.quiet)
		summarise(detection);
	print_statistics(detection);
}

static void tell_of_language(const struct detection *detection)
{
	const struct tools_chosen *chosen = &detection->chosen;
	char *path, running[64];

	if (detection->options.pid) {
		snprintf(running, sizeof(running), "/proc/%d/exe", (int)detection->options.pid);
		golang_tell(running, attach_program(detection->options.pid), chosen->tool,
			    chosen->count);
	} else if (detection->options.program) {
		path = program_path(detection->options.program[0]);
		if (path)
			golang_tell(path, detection->options.program[0], chosen->tool,
				    chosen->count);
		free(path);
	}
}

static int run(struct detection *detection)
{
	int status = detection->options.program ? spawn(detection) : STATUS_OK;

	if (!status && detection->options.pid)
		status = attach_begin(tool_set_control(detection->tools), detection->options.pid);
	if (status)
		return status;
	tell_of_language(detection);
	if (detection->options.program || detection->options.pid)
		unwatched_foretell(library_of(detection) == PROGRAM_LIBRARY_GUARD);
	output_begin(&detection->output);
	generated_begin(&detection->generated);
	progress_begin(&detection->progress,
		       detection->options.quiet ||
			       (!detection->options.program && !detection->options.pid));
	status = control_run(tool_set_control(detection->tools));
	progress_clear(&detection->progress);
	if (detection->options.program)
		go_on(detection, status);
	control_finish(tool_set_control(detection->tools));
	if (detection->options.pid)
		attach_end(tool_set_control(detection->tools));
	if (!detection->refused)
		tell(detection);
	return exit_status(detection, status);
}

static int begin(struct detection *detection, const char *program)
{
	struct host_options host = {.control = &detection->options.control,
				    .raw = detection->options.raw,
				    .program = program,
				    .tool_options = detection->options.tool_option,
				    .loaded = detection->chosen.loaded,
				    .process_ended = rewrite_output,
				    .tick = tick,
				    .refused = refuse};
	int err = tool_set_create(&detection->tools, detection->chosen.tool,
				  detection->chosen.count, &host, deliver, detection);

	if (err >= 0)
		return STATUS_OK;
	if (err != -ECANCELED && err != -EBADRQC)
		return program_not_watched(detection->options.program, err);
	return err == -EBADRQC ? STATUS_USAGE : STATUS_FAILED;
}

/* Tells and closes what is left. Returns the status to end with. */
static int end(struct detection *detection, int status)
{
	if (detection->tools)
		tool_set_destroy(detection->tools);
	status = output_close(&detection->output, status);
	suppressions_destroy(detection->suppressions);
	suppressions_destroy(detection->known);
	aiming_destroy(detection->aiming);
	return generated_close(&detection->generated, status);
}

static int run_beside(struct detection *detection, char **argv)
{
	if (detection->options.patchable && !program_ask_to_listen())
		return STATUS_FAILED;
	return beside_run(argv, detection->options.program,
			  program_preload_library(library_of(detection)));
}

static int run_program(struct detection *detection, char **argv)
{
	char **program = detection->options.program;
	char *reason = program_cannot_be_watched(program[0]);
	int status;

	if (reason) {
		utf8_fprintf(stderr, "trapline: %s; running it bare\n", reason);
		return program_run_bare(program);
	}
	if (tools_are_blind(detection->chosen.tool, detection->chosen.count, program[0]))
		return program_run_bare(program);
	if (detection->options.beside)
		return run_beside(detection, argv);
	status = open_outputs(detection);
	if (!status)
		status = begin(detection, program_path(program[0]));
	if (!status)
		status = run(detection);
	return end(detection, status);
}

/* Watches a program that runs already. */
static int run_attached(struct detection *detection)
{
	char *reason = program_lethal_filter();
	int status;

	if (!reason && tools_cannot_attach(detection->chosen.tool, detection->chosen.count))
		return STATUS_USAGE;
	if (reason) {
		utf8_fprintf(stderr, "trapline: %s\n", reason);
		free(reason);
		return STATUS_FAILED;
	}
	/* No library is in the process that would remember blocks of its heap. */
	detection->options.control.allocations = CONTROL_ALLOCATIONS_NONE;
	status = open_outputs(detection);
	if (!status)
		status = begin(detection, attach_program(detection->options.pid));
	if (!status)
		status = run(detection);
	return end(detection, status);
}

/* Watches a program that was started without us, as its companion. */
static int run_companion(struct detection *detection)
{
	char *program = NULL;
	int status = companion_begin(&detection->options, &program);

	if (!status)
		status = open_outputs(detection);
	if (!status)
		status = begin(detection, program);
	if (!status) {
		companion_settle(&detection->options, tool_set_control(detection->tools));
		status = run(detection);
	}
	status = end(detection, status);
	free(program);
	return status;
}

/* `tool`: the command's own; NULL: those that --tool names. */
static int choose_tools(struct detection *detection, const struct tl_tool *tool)
{
	const struct detect_options *options = &detection->options;
	int status = STATUS_OK;

	if (tool)
		detection->chosen.tool[detection->chosen.count++] = tool;
	for (unsigned i = 0; i < options->tools && status == STATUS_OK; i++)
		status = tools_add(&detection->chosen, options->tool[i]);
	if (detection->chosen.count || status != STATUS_OK)
		return status;
	fputs("trapline: which tool? `trapline run --tool race,./mine.so -- PROGRAM`\n", stderr);
	return STATUS_USAGE;
}

static void add_view(struct detection *detection)
{
	struct detect_options *options = &detection->options;

	for (const char *const *at = detection->view->tool_options; at && *at; at++)
		if (options->tool_options < DETECT_LIST_MAX)
			options->tool_option[options->tool_options++] = *at;
}

int detect_run(int argc, char **argv, const struct tl_tool *tool, const struct detect_view *view)
{
	struct detection detection = {.view = view};
	int status = detect_options_parse(&detection.options, argc, argv);

	if (status)
		return attach_status(status);
	if (view)
		add_view(&detection);
	status = choose_tools(&detection, tool);
	/* A service must run, whatever becomes of its detectors. */
	if (status && detection.options.beside && detection.options.program)
		return program_run_bare(detection.options.program);
	if (status)
		return status;
	if (detection.options.pid)
		return run_attached(&detection);
	return detection.options.program ? run_program(&detection, argv)
					 : run_companion(&detection);
}
