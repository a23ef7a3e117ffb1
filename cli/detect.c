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
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

static FILE *open_private(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		fprintf(stderr, "trapline: %s cannot be written: %s\n", path, strerror(errno));
	return file;
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
	if (options->output && !(detection->output = open_private(options->output)))
		return STATUS_FAILED;
	if (options->generate && strcmp(options->generate, "-") == 0)
		detection->generated = stderr;
	else if (options->generate && !(detection->generated = open_private(options->generate)))
		return STATUS_FAILED;
	return STATUS_OK;
}

static void print_count(void *context, const char *name, uint64_t value, const char *meaning)
{
	(void)context;
	fprintf(stderr, "%12llu  %-24s %s\n", (unsigned long long)value, name, meaning);
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
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return STATUS_SIGNAL + WTERMSIG(status);
}

/* Signals from the terminal reach the program by themselves; ours is to stay until it ends. Others
 * sent to us are meant for it. */
static pid_t program_pid;

static void forward(int signal)
{
	if (program_pid > 0)
		kill(program_pid, signal);
}

static void forward_signals(void)
{
	struct sigaction action = {.sa_handler = forward, .sa_flags = SA_RESTART};

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
}

static int run(struct detection *detection)
{
	struct control *control = host_control(detection->host);
	char **program = detection->options.program;
	int status;

	program_pid = control_spawn(control, program, program_preload_library());
	if (program_pid < 0)
		return program_cannot_run(program[0], (int)program_pid);
	forward_signals();
	status = control_run(control);
	host_finish(detection->host);
	rewrite_output(detection);
	if (detection->options.stats)
		host_counts(detection->host, print_count, NULL);
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
