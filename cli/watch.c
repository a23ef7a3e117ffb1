/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline watch`: who reads, writes or runs this? */
#include "cli/attach.h"
#include "cli/background.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/unwatched.h"
#include "cli/watch_options.h"
#include "event/firing.h"
#include "event/probe.h"
#include "inject/permission.h"
#include "observe/observe.h"
#include "record/utf8.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_hit(void *context, const struct finding *finding)
{
	output_write(context, finding);
}

static void print_statistics(const struct watch_command *command, const struct control *control)
{
	struct statistics statistics = {.count = 0};

	control_counts(control, statistics_add, &statistics);
	statistics_print(&statistics, command->stats, stderr);
}

static int run(struct watch_command *command, struct watch *watch, struct control *control)
{
	char **program = command->program;
	enum program_library library = command->watch.regions	 ? PROGRAM_LIBRARY_REGIONS
				       : watch_needs_heap(watch) ? PROGRAM_LIBRARY_HEAP
								 : PROGRAM_LIBRARY_PLAIN;
	pid_t pid = program_spawn(control, program, library, command->patchable);
	struct background how = {.program = program[0],
				 .foreground = command->foreground || command->top,
				 .to_file = command->output};
	int status;

	if (pid < 0)
		return program_cannot_run(program[0], (int)pid);
	program_forward_signals(pid);
	output_begin(command->watch.context);
	status = control_run(control);
	background_go_on(control, &how, program_exit_status(status));
	control_finish(control);
	unwatched_tell(control, "nothing was watched");
	watch_finish(watch);
	print_statistics(command, control);
	return watch_refused(watch) ? STATUS_USAGE : program_exit_status(status);
}

static int cannot_observe(pid_t pid, int err)
{
	const char *what = err == -ESRCH ? "there is no such process, or its first thread has ended"
					 : strerror(-err);
	struct inject_reason reason;

	if (err == -EACCES || err == -EPERM) {
		permission_explain_events(&reason, pid, err);
		utf8_fprintf(stderr, "trapline: %s\n", reason.text);
	} else {
		utf8_fprintf(stderr, "trapline: process %d cannot be watched: %s\n", (int)pid,
			     what);
	}
	return STATUS_FAILED;
}

/* Tells of threads in which no event could be opened: nobody counted what they did then. */
static void tell_threads(const struct program *program)
{
	if (observe_uncovered(program))
		utf8_fprintf(
			stderr,
			"trapline: %llu threads could not be watched: no hardware slot or descriptor "
			"was left for them\n",
			(unsigned long long)observe_uncovered(program));
	if (observe_unmet(program))
		utf8_fprintf(
			stderr,
			"trapline: %llu threads' own copies of thread-local variables were not "
			"watched: they ended before that, or it was not found where their "
			"copies are\n",
			(unsigned long long)observe_unmet(program));
	if (observe_late(program))
		utf8_fprintf(stderr,
			     "trapline: %llu threads may have run for more than 20 ms before their "
			     "own copies of thread-local variables were watched: hits of that time "
			     "are not told\n",
			     (unsigned long long)observe_late(program));
}

static int observe(struct watch_command *command, struct watch *watch, struct control *control)
{
	const char *children = observe_children(control_program(control))
				       ? "its children are watched until they execute a program"
				       : "its children are not watched";
	int err;

	background_stop_in_order(control);
	err = control_observe(control, command->pid);
	if (err)
		return cannot_observe(command->pid, err);
	output_begin(command->watch.context);
	if (!watch_refused(watch)) {
		utf8_fprintf(
			stderr,
			"trapline: process %d is watched from outside: old values are not known, "
			"new ones only where a register still holds them, hits that come too fast "
			"are lost and counted; %s. Ctrl-C ends this\n",
			(int)command->pid, children);
		control_run(control);
		control_finish(control);
	}
	watch_finish(watch);
	tell_threads(control_program(control));
	print_statistics(command, control);
	if (watch_changed(watch))
		return STATUS_FAILED;
	return watch_refused(watch) ? STATUS_USAGE : STATUS_OK;
}

/* Puts a handler into the process, as race -p does, since a thread must wait until its block is
 * watched. */
static int enter(struct watch_command *command, struct watch *watch, struct control *control)
{
	int status;

	if (command->watch.sampled) {
		fputs("trapline: with -p blocks of the heap are watched one at a time already: leave "
		      "out --budget\n",
		      stderr);
		return STATUS_USAGE;
	}
	status = attach_begin(control, command->pid);
	if (status)
		return status;
	output_begin(command->watch.context);
	utf8_fprintf(stderr,
		     "trapline: process %d is entered, since a thread waits until its block is "
		     "watched; one block at a time. Ctrl-C ends this\n",
		     (int)command->pid);
	control_run(control);
	control_finish(control);
	attach_end(control);
	watch_finish(watch);
	print_statistics(command, control);
	return watch_refused(watch) ? STATUS_USAGE : STATUS_OK;
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
		watch_destroy(watch);
		return program_not_watched(command->pid ? NULL : command->program, status);
	}
	watch_attach(watch, control);
	if (!command->pid)
		status = run(command, watch, control);
	else
		status = watch_needs_heap(watch) ? enter(command, watch, control)
						 : observe(command, watch, control);
	control_destroy(control);
	watch_destroy(watch);
	return status;
}

static bool cannot_be_watched(const struct watch_command *command)
{
	char *reason = command->pid ? program_lethal_filter()
				    : program_cannot_be_watched(command->program[0]);

	if (!reason && !probe_works(PROBE_PERMISSION))
		reason = strdup(probe_outcome(PROBE_PERMISSION)->advice);
	if (!reason && firing_is_absent(TL_WRITE))
		reason = strdup(FIRING_ABSENT);
	if (!reason)
		return false;
	utf8_fprintf(stderr, "trapline: %s%s\n", reason, command->pid ? "" : "; running it bare");
	free(reason);
	return true;
}

static int open_top(struct watch_command *command)
{
	int err = top_open(&command->watch.top);

	if (err) {
		utf8_fprintf(
			stderr,
			"trapline: --top needs a terminal to draw in, and there is none (%s); leave "
			"it out, or use --count\n",
			strerror(-err));
		return err;
	}
	command->control.output = top_output(command->watch.top);
	return 0;
}

int command_watch(int argc, char **argv)
{
	struct watch_command command;
	struct output output = {0};
	int status = watch_options_parse(&command, argc, argv);

	if (status)
		return attach_status(status);
	if (command.pid && attach_check(command.pid))
		return STATUS_FAILED;
	if (cannot_be_watched(&command))
		return command.pid ? STATUS_FAILED : program_run_bare(command.program);
	if (command.output && !output_open(&output, command.output))
		return STATUS_FAILED;
	command.watch.program = command.pid ? attach_program(command.pid)
					    : program_path(command.program[0]);
	command.watch.deliver = output.file ? write_hit : NULL;
	command.watch.context = &output;
	if (command.top && open_top(&command))
		return STATUS_FAILED;
	status = watch_program(&command);
	top_close(command.watch.top);
	return output_close(&output, status);
}
