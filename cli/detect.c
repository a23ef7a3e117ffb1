/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/detect.h"

#include "cli/command.h"
#include "cli/detect_options.h"
#include "cli/program.h"
#include "report/jsonl.h"
#include "report/suppressions.h"
#include "report/text.h"
#include "tool/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct detection {
	struct detect_options options;
	struct tl_host *host;
	struct suppressions *suppressions;
	FILE *output, *generated;
	unsigned shown;
	unsigned suppressed;
};

static bool is_shown(const struct detection *detection, const struct finding *finding)
{
	return finding->certainty != FINDING_POSSIBLE || detection->options.show_all;
}

static void show(struct detection *detection, const struct finding *finding)
{
	struct text_options text = {.color = text_wants_color(stderr), .sources = true};

	text_write(stderr, finding, &text);
	fflush(stderr);
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
	if (detection->output) {
		jsonl_write(detection->output, finding);
		fflush(detection->output);
	}
	if (is_shown(detection, finding))
		show(detection, finding);
	return false;
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
	if (options->output && !(detection->output = program_open_output(options->output)))
		return STATUS_FAILED;
	if (options->generate && strcmp(options->generate, "-") == 0)
		detection->generated = stderr;
	else if (options->generate &&
		 !(detection->generated = program_open_output(options->generate)))
		return STATUS_FAILED;
	return STATUS_OK;
}

/* Once more at the end, in place of what was written on the way: now with final counts. */
static void rewrite_output(struct detection *detection)
{
	struct finding *finding;

	if (!detection->output || ftruncate(fileno(detection->output), 0))
		return;
	rewind(detection->output);
	for (size_t i = 0; (finding = host_finding(detection->host, i)); i++)
		if (!suppressions_match(detection->suppressions, finding))
			jsonl_write(detection->output, finding);
	fclose(detection->output);
	detection->output = NULL;
}

static int exit_status(const struct detection *detection, int status)
{
	if (detection->shown && detection->options.error_exitcode >= 0)
		return detection->options.error_exitcode;
	return program_exit_status(status);
}

static int run(struct detection *detection)
{
	struct control *control = host_control(detection->host);
	char **program = detection->options.program;
	pid_t pid;
	int status;

	pid = control_spawn(control, program, program_preload_library(false));
	if (pid < 0)
		return program_cannot_run(program[0], (int)pid);
	program_forward_signals(pid);
	status = control_run(control);
	host_finish(detection->host);
	rewrite_output(detection);
	if (detection->options.stats)
		host_counts(detection->host, program_print_count, NULL);
	return exit_status(detection, status);
}

int detect_run(int argc, char **argv, const struct tl_tool *tool)
{
	struct detection detection = {0};
	struct host_options host = {.control = &detection.options.control};
	char *reason;
	int status = detect_options_parse(&detection.options, argc, argv);

	if (status)
		return status == 1 ? STATUS_OK : STATUS_USAGE;
	if (!tool && !detection.options.tool) {
		fputs("trapline: which tool? `trapline run --tool ./mine.so -- PROGRAM`\n", stderr);
		return STATUS_USAGE;
	}
	if (!tool && !(tool = tool_load(detection.options.tool)))
		return STATUS_FAILED;
	reason = program_cannot_be_watched(detection.options.program[0]);
	if (reason) {
		fprintf(stderr, "trapline: %s; running it bare\n", reason);
		return program_run_bare(detection.options.program);
	}
	status = open_outputs(&detection);
	if (status)
		return status;
	host.program = program_path(detection.options.program[0]);
	host.raw = detection.options.raw;
	host.tool_options = detection.options.tool_option;
	status = host_create(&detection.host, tool, &host, deliver, &detection);
	if (status < 0) {
		fprintf(stderr, "trapline: cannot start: %s\n", strerror(-status));
		return STATUS_FAILED;
	}
	status = run(&detection);
	host_destroy(detection.host);
	suppressions_destroy(detection.suppressions);
	return status;
}
