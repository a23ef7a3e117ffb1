/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline throttle`: a program whose threads keep to a budget, by pausing themselves. */
#include "cli/attach.h"
#include "cli/background.h"
#include "cli/command.h"
#include "cli/program.h"
#include "cli/throttle_options.h"
#include "cli/unwatched.h"
#include "program/reach.h"
#include "control/control.h"
#include "lasting/lasting.h"
#include "record/utf8.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/error.h>
#include <trapline/event.h>

/* ------------------------------------------------------------------------------------------- */
/* Showing limits */

static void format_budget(const struct area_limit *limit, char text[32])
{
	uint64_t budget = __atomic_load_n(&limit->rate.budget, __ATOMIC_RELAXED);

	if (limit->counter == TL_CPU_TIME)
		snprintf(text, 32, "%.4g%%", (double)budget / 1e7);
	else
		snprintf(text, 32, "%llu/s", (unsigned long long)budget);
}

static void format_used(const struct area_limit *limit, char text[32])
{
	uint64_t used = atomic_load_explicit(&limit->used, memory_order_relaxed);

	if (limit->counter == TL_CPU_TIME)
		snprintf(text, 32, "%.3f s", (double)used / 1e9);
	else
		snprintf(text, 32, "%llu", (unsigned long long)used);
}

static const char *each_name(unsigned each)
{
	return each == AREA_EACH_TREE ? "tree" : each == AREA_EACH_PROCESS ? "process" : "thread";
}

static void show_limit(FILE *to, const struct area_limit *limit)
{
	const char *name = throttle_counter_name(limit->counter);
	char budget[32], used[32], raw[AREA_PATTERN], threads[2 * AREA_PATTERN];

	memcpy(raw, limit->threads, sizeof(raw));
	raw[AREA_PATTERN - 1] = '\0';
	utf8_escape(threads, sizeof(threads), raw[0] ? raw : "*");
	format_budget(limit, budget);
	format_used(limit, used);
	fprintf(to, "%-14s %-12s %-16s %-8s %-14s %9.3f s %9.1f ms\n", name ? name : "?", budget,
		threads, each_name(limit->each), used, (double)limit->paused / 1e9,
		(double)limit->longest / 1e6);
}

static void show_limits(FILE *to, const struct area *area)
{
	fprintf(to, "%-14s %-12s %-16s %-8s %-14s %11s %12s\n", "limit", "budget", "threads", "per",
		"used", "paused", "longest");
	for (uint32_t i = limit_next(area, 0); i < AREA_LIMITS; i = limit_next(area, i + 1))
		show_limit(to, &area->limit[i]);
}

static void print_stats(const struct area *area)
{
	uint64_t looks = 0, pauses = 0, held = 0, filtered = 0, late = 0;

	show_limits(stderr, area);
	for (uint32_t i = limit_next(area, 0); i < AREA_LIMITS; i = limit_next(area, i + 1)) {
		looks += area->limit[i].looks;
		pauses += area->limit[i].pauses;
		held += area->limit[i].held;
		filtered += area->limit[i].filtered;
		late += area->limit[i].late;
	}
	program_print_count(NULL, "looks", looks, "times a thread looked at what it had used");
	program_print_count(NULL, "thread-pauses", pauses, "times it paused then");
	program_print_count(NULL, "pauses-held", held,
			    "times it did not because it was in a held section");
	program_print_count(NULL, "looks-filtered", filtered,
			    "times it could not because of a system-call filter");
	program_print_count(NULL, "looks-late", late,
			    "looks that came late because SIGTRAP was blocked");
	program_print_count(NULL, "processes-without-entry", area->without_entry,
			    "processes not limited because 64 others were");
}

/* ------------------------------------------------------------------------------------------- */
/* Setting them */

static int check_possible(const struct throttle_command *command)
{
	for (unsigned i = 0; i < command->limits; i++) {
		int err = limit_possible(command->limit[i].counter);

		if (!err)
			continue;
		utf8_fprintf(stderr, "trapline: %s cannot be counted here: %s\n",
			     throttle_counter_name(command->limit[i].counter), tl_explain(err));
		return STATUS_FAILED;
	}
	return STATUS_OK;
}

static int add(struct area *area, const struct limit *limit)
{
	if (limit_add(area, limit) >= 0)
		return STATUS_OK;
	utf8_fprintf(stderr, "trapline: at most %d limits are possible in one program\n",
		     AREA_LIMITS);
	return STATUS_FAILED;
}

static bool is_meant(const struct area_limit *shared, const struct limit *limit)
{
	return shared->counter == limit->counter &&
	       (!limit->threads || strcmp(shared->threads, limit->threads) == 0);
}

/* Replaces the limit of the same counter and, if threads are named, of the same threads. */
static int change(struct area *area, const struct limit *limit)
{
	uint32_t found = AREA_LIMITS;

	for (uint32_t i = limit_next(area, 0); i < AREA_LIMITS; i = limit_next(area, i + 1)) {
		if (!is_meant(&area->limit[i], limit))
			continue;
		if (found < AREA_LIMITS) {
			utf8_fprintf(
				stderr,
				"trapline: it has several limits of %s; say --threads as shown by "
				"`trapline throttle -p PID`\n",
				throttle_counter_name(limit->counter));
			return STATUS_FAILED;
		}
		found = i;
	}
	if (found < AREA_LIMITS && limit->budget)
		limit_change(area, found, limit);
	else if (found < AREA_LIMITS)
		limit_stop(area, found);
	else if (limit->budget)
		return add(area, limit);
	return STATUS_OK;
}

/* ------------------------------------------------------------------------------------------- */
/* Starting a program */

static void tell_statistics(const struct throttle_command *command, struct control *control)
{
	struct statistics statistics = {.count = 0};

	if (!command->stats)
		return;
	print_stats(control_area(control));
	control_counts(control, statistics_add, &statistics);
	statistics_print(&statistics, command->stats, stderr);
}

/* Runs until this command is ended; then the program goes on without a limit. */
static int run_attached(const struct throttle_command *command, struct control *control)
{
	int status = attach_begin(control, command->pid);

	if (status)
		return status;
	control_run(control);
	control_finish(control);
	attach_end(control);
	tell_statistics(command, control);
	return STATUS_OK;
}

static int run_program(const struct throttle_command *command, struct control *control)
{
	char **program = command->program;
	struct background how = {.program = program[0], .foreground = command->foreground};
	int status;
	pid_t pid = program_spawn(control, program, PROGRAM_LIBRARY_PLAIN, command->patchable);

	if (pid < 0)
		return program_cannot_run(program[0], (int)pid);
	program_forward_signals(pid);
	status = control_run(control);
	background_go_on(control, &how, program_exit_status(status));
	control_finish(control);
	unwatched_tell(control, "it ran without a limit");
	tell_statistics(command, control);
	return program_exit_status(status);
}

static int run(const struct throttle_command *command, struct control *control)
{
	struct area *area = control_area(control);
	int status = STATUS_OK;

	for (unsigned i = 0; i < command->limits && status == STATUS_OK; i++)
		status = add(area, &command->limit[i]);
	if (status)
		return status;
	return command->pid ? run_attached(command, control) : run_program(command, control);
}

static int throttle_program(const struct throttle_command *command)
{
	struct control_observer observer = {0};
	struct control_options options;
	struct control *control;
	int status;

	control_options_init(&options);
	options.strategy = &limits_strategy;
	/* There are no watches to ration. */
	options.budget = 100;
	options.follow = command->follow;
	options.duration = command->duration;
	status = control_create(&control, &options, &observer);
	if (status < 0) {
		utf8_fprintf(stderr, "trapline: cannot start: %s\n", strerror(-status));
		return STATUS_FAILED;
	}
	status = run(command, control);
	control_destroy(control);
	return status;
}

/* Changes the limits of a program that runs under trapline. If it does not, it is entered if there
 * is a limit to set, or it is said why that is not permitted. */
static int change_running(const struct throttle_command *command)
{
	struct area *area;
	int status = STATUS_OK, err = reach_area(&area, command->pid);

	if ((err == -ENOENT || err == -EACCES) && command->limits)
		return throttle_program(command);
	if (err) {
		utf8_fprintf(stderr, "trapline: process %d: %s%s\n", (int)command->pid,
			     reach_explain(err),
			     err == -ENOENT
				     ? "; or say which limit it gets: --cpu, --faults or --limit"
				     : "");
		return STATUS_FAILED;
	}
	if (command->duration) {
		utf8_fprintf(
			stderr,
			"trapline: process %d runs under trapline already, and its limits stay "
			"until that ends or they are `off`: leave out --duration\n",
			(int)command->pid);
		area_unmap(area);
		return STATUS_FAILED;
	}
	for (unsigned i = 0; i < command->limits && status == STATUS_OK; i++)
		status = change(area, &command->limit[i]);
	if (!command->limits)
		show_limits(stdout, area);
	if (command->stats)
		print_stats(area);
	area_unmap(area);
	return status;
}

int command_throttle(int argc, char **argv)
{
	struct throttle_command command;
	char *reason;
	int status = throttle_options_parse(&command, argc, argv);

	if (status)
		return attach_status(status);
	reason = command.pid ? program_lethal_filter()
			     : program_cannot_be_watched(command.program[0]);
	if (reason) {
		utf8_fprintf(stderr, "trapline: %s%s\n", reason,
			     command.pid ? ""
					 : "; it would run without a limit and was not started");
		free(reason);
		return STATUS_FAILED;
	}
	status = check_possible(&command);
	if (status)
		return status;
	return command.pid ? change_running(&command) : throttle_program(&command);
}
