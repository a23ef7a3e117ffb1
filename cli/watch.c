/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline watch`: who reads, writes or runs this? */
#include "cli/command.h"
#include "cli/program.h"
#include "cli/watch_options.h"
#include "report/jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_hit(void *context, const struct finding *finding)
{
	FILE *output = context;

	jsonl_write(output, finding);
	fflush(output);
}

static int run(struct watch_command *command, struct watch *watch, struct control *control)
{
	char **program = command->program;
	pid_t pid =
		control_spawn(control, program, program_preload_library(watch_needs_heap(watch)));
	int status;

	if (pid < 0)
		return program_cannot_run(program[0], (int)pid);
	program_forward_signals(pid);
	status = control_run(control);
	program_tell_unentered(control);
	watch_finish(watch);
	if (command->stats)
		control_counts(control, program_print_count, NULL);
	return watch_refused(watch) ? STATUS_USAGE : program_exit_status(status);
}

static int watch_program(struct watch_command *command)
{
	struct control_observer observer;
	struct control *control;
	struct watch *watch;
	int status;

	if (watch_create(&watch, &command->watch))
		return STATUS_USAGE;
	observer = watch_observer(watch);
	status = control_create(&control, &command->control, &observer);
	if (status < 0) {
		fprintf(stderr, "trapline: cannot start: %s\n", strerror(-status));
		watch_destroy(watch);
		return STATUS_FAILED;
	}
	watch_attach(watch, control);
	status = run(command, watch, control);
	control_destroy(control);
	watch_destroy(watch);
	return status;
}

int command_watch(int argc, char **argv)
{
	struct watch_command command;
	FILE *output = NULL;
	char *reason;
	int status = watch_options_parse(&command, argc, argv);

	if (status)
		return status == 1 ? STATUS_OK : STATUS_USAGE;
	reason = program_cannot_be_watched(command.program[0]);
	if (reason) {
		fprintf(stderr, "trapline: %s; running it bare\n", reason);
		free(reason);
		return program_run_bare(command.program);
	}
	if (command.output && !(output = program_open_output(command.output)))
		return STATUS_FAILED;
	command.watch.program = program_path(command.program[0]);
	command.watch.deliver = output ? write_hit : NULL;
	command.watch.context = output;
	status = watch_program(&command);
	if (output && fclose(output)) {
		fprintf(stderr, "trapline: %s could not be written\n", command.output);
		status = STATUS_FAILED;
	}
	return status;
}
