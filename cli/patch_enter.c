/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline patch` of a process that does not listen: the fix is loaded from outside, and execution
 * breakpoints lead to it as long as this command runs. */
#include "base/clock.h"
#include "cli/attach.h"
#include "cli/patch.h"
#include "cli/program.h"
#include "control/control.h"
#include "event/firing.h"
#include "graft/graft.h"
#include "inject/permission.h"
#include "inject/stacks.h"
#include "lasting/lasting.h"
#include "program/reach.h"
#include "record/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE (3 * SECOND) /* until a breakpoint stands in every thread */
#define FOLLOW_PERIOD (100 * MILLISECOND)

struct patching {
	pid_t pid;
	const struct patch_request *request;
	const struct patch_manner *manner;
	struct graft *graft;
	struct control *control;
	uint64_t until;	 /* ns when it is patched at the latest; 0: it has not begun */
	bool asks;	 /* threads inherit no breakpoint: each is asked for its stack first */
	uint64_t follow; /* ns when threads that have come since are looked for */
	bool on;
	int err; /* why it is not */
};

static int refuse(pid_t pid, const char *why)
{
	utf8_fprintf(stderr, "trapline: process %d was not patched: %s\n", (int)pid, why);
	return STATUS_FAILED;
}

/* ---- before anything is done to it ----------------------------------------------------------- */

static int check_request(pid_t pid, const struct patch_request *request)
{
	if (request->count > INJECTED_REDIRECTS)
		return refuse(pid, "it was not started with `trapline run`, and then an execution "
				   "breakpoint stands at each function, of which the processor has "
				   "four");
	return STATUS_OK;
}

/* Whose handler of SIGTRAP would get no signal any more. */
static int check_alone(pid_t pid)
{
	struct area *area;
	int err = reach_area(&area, pid);

	if (!err)
		area_unmap(area);
	if (err == -ENOENT || err == -EACCES)
		return STATUS_OK;
	return refuse(pid, err && err != -EINVAL
				   ? reach_explain(err)
				   : "it runs under another trapline, and does not listen for "
				     "patches: give that one --patchable as it starts the program");
}

static int prepare(struct patching *patching)
{
	const struct patch_request *request = patching->request;
	struct graft_error error = {""};

	if (graft_prepare(&patching->graft, patching->pid, request->path, &error)) {
		utf8_fprintf(stderr, "trapline: %s %s\n", request->path, error.text);
		return STATUS_FAILED;
	}
	for (uint32_t i = 0; i < request->count; i++) {
		const struct graft_change change = {request->change[i].old_address,
						    request->change[i].new_file_offset,
						    request->change[i].original_file_offset};

		if (graft_add(patching->graft, &change, &error)) {
			utf8_fprintf(stderr,
				     "trapline: process %d was not patched: the function at 0x%llx "
				     "%s\n",
				     (int)patching->pid,
				     (unsigned long long)request->change[i].old_address,
				     error.text);
			return STATUS_FAILED;
		}
	}
	return STATUS_OK;
}

/* ---- patched --------------------------------------------------------------------------------- */

static struct injection *injection_of(const struct patching *patching)
{
	return entered_injection(control_program(patching->control), patching->pid);
}

static struct tl_watch watch_of(const struct patching *patching, uint32_t i)
{
	return (struct tl_watch){.size = sizeof(struct tl_watch),
				 .pid = patching->pid,
				 .address = patching->request->change[i].old_address,
				 .length = 1,
				 .access = TL_EXEC};
}

/* Which threads a signal may be sent to is looked at here, while no breakpoint can be hit: those in
 * a handler of ours take none. 1: some may turn out to take one a moment later. */
static int open_all(struct patching *patching)
{
	int doubts = 0;

	for (uint32_t i = 0; i < patching->request->count; i++) {
		const struct tl_watch watch = watch_of(patching, i);
		int err =
			lasting_open(control_program(patching->control), patching->pid, i, &watch);

		if (err < 0)
			return err;
		doubts |= err;
	}
	return doubts;
}

static int arm_all(struct patching *patching)
{
	int err = 0;

	for (uint32_t i = 0; i < patching->request->count && !err; i++) {
		const struct tl_watch watch = watch_of(patching, i);

		err = lasting_arm(control_program(patching->control), patching->pid, i, &watch);
	}
	return err;
}

static const struct inject_stacks *stacks_of(const struct patching *patching)
{
	return entered_stacks(control_program(patching->control), injection_of(patching)->index);
}

static void tell_of_threads(struct patching *patching)
{
	struct program *program = control_program(patching->control);
	struct thread_set all = {0};

	lasting_count_redirects(program, patching->pid, patching->request->count);
	if (program->count[COUNT_THREADS_UNPATCHED] && !thread_set_list(&all, patching->pid))
		utf8_fprintf(stderr,
			     "trapline: %llu of %zu threads of process %d go on calling the old "
			     "functions: they have SIGTRAP blocked, a system-call filter or too "
			     "small a signal stack, or began at that moment\n",
			     (unsigned long long)program->count[COUNT_THREADS_UNPATCHED], all.count,
			     (int)patching->pid);
	thread_set_destroy(&all);
	if (patching->asks)
		utf8_fprintf(stderr,
			     "trapline: handlers of process %d run on alternate stacks: threads "
			     "that it makes later call the old functions until they have been "
			     "asked for their stacks, some tenths of a second\n",
			     (int)patching->pid);
}

static void tell(struct patching *patching)
{
	tell_of_threads(patching);
	utf8_fprintf(stdout, "process %d patched on breakpoints until Ctrl-C: %s %s\n",
		     (int)patching->pid, patching->request->path, patching->request->text);
	fflush(stdout);
}

static void give_up(struct patching *patching, int err)
{
	patching->err = err;
	control_stop(patching->control);
}

/* All stand before the first leads anywhere: so each thread comes to new functions alone from one
 * instant on. */
static void switch_on(struct patching *patching)
{
	int err = arm_all(patching);

	if (!err)
		err = inject_redirect_switch(injection_of(patching), true);
	patching->on = !err;
	if (err)
		give_up(patching, err);
	else
		tell(patching);
}

static void try(struct patching *patching)
{
	int err = open_all(patching);

	if (err < 0)
		give_up(patching, err);
	else if (!err || clock_now() > patching->until)
		switch_on(patching);
}

/* Threads that come later call old functions until they have been asked, and were seen to take the
 * signal. */
static void follow_threads(struct patching *patching)
{
	uint64_t now = clock_now();

	if (now < patching->follow)
		return;
	patching->follow = now + FOLLOW_PERIOD;
	for (uint32_t i = 0; i < patching->request->count; i++)
		lasting_follow_threads(control_program(patching->control), patching->pid, i);
}

static void begin(void *context, pid_t pid)
{
	struct patching *patching = context;

	if (pid != patching->pid || patching->until)
		return;
	patching->until = clock_now() + PATIENCE;
	patching->asks = stacks_of(patching)->exposed;
	if (patching->asks && !patching->manner->anyway)
		give_up(patching, -EOPNOTSUPP);
	else
		try(patching);
}

/* A thread may be where it takes no signal for a moment, as while it creates another. */
static void tick(void *context)
{
	struct patching *patching = context;

	if (patching->until && !patching->on && !patching->err)
		try(patching);
	else if (patching->on && patching->asks && injection_of(patching))
		follow_threads(patching);
}

static int tell_failure(const struct patching *patching)
{
	struct inject_reason reason;

	if (patching->err == -EOPNOTSUPP)
		return refuse(patching->pid,
			      "handlers of its signals run on alternate stacks, where threads that "
			      "it makes later would call the old functions for a moment; start it "
			      "with `trapline run`, or give --anyway");
	permission_explain_events(&reason, patching->pid, patching->err);
	return refuse(patching->pid, patching->err == -ENOSPC
					     ? "no hardware slot is free for each of the functions"
					     : reason.text);
}

static void print_statistics(const struct patching *patching)
{
	struct statistics statistics = {.count = 0};

	control_counts(patching->control, statistics_add, &statistics);
	statistics_print(&statistics, patching->manner->stats, stderr);
}

/* A thread may be inside for ever: what was ever led to stays. */
static int end(struct patching *patching)
{
	struct injection *injection = injection_of(patching);

	if (injection && patching->on) {
		inject_redirect_switch(injection, false);
		lasting_count_redirects(control_program(patching->control), patching->pid,
					patching->request->count);
	}
	control_finish(patching->control);
	if (injection && !patching->on)
		graft_unload(patching->graft, injection);
	attach_end(patching->control);
	if (patching->err)
		return tell_failure(patching);
	return patching->on ? STATUS_OK
			    : refuse(patching->pid, "it has ended, or was left before that");
}

static int enter(struct patching *patching)
{
	int status = attach_begin(patching->control, patching->pid), err;

	if (status)
		return status;
	err = graft_load(patching->graft, injection_of(patching));
	if (err) {
		control_finish(patching->control);
		attach_end(patching->control);
		return refuse(patching->pid, strerror(-err));
	}
	control_run(patching->control);
	return end(patching);
}

static int run(struct patching *patching)
{
	const struct control_observer observer = {
		.process_began = begin, .tick = tick, .context = patching};
	struct control_options options;
	int status;

	control_options_init(&options);
	options.strategy = &redirects_strategy;
	options.budget = 100; /* they never rest */
	options.follow = false;
	options.duration = patching->manner->duration;
	status = control_create(&patching->control, &options, &observer);
	if (status < 0)
		return refuse(patching->pid, strerror(-status));
	status = enter(patching);
	print_statistics(patching);
	control_destroy(patching->control);
	return status;
}

int patch_enter(pid_t pid, const struct patch_request *request, const struct patch_manner *manner)
{
	struct patching patching = {.pid = pid, .request = request, .manner = manner};
	char *reason = program_lethal_filter();
	int status;

	if (reason) {
		status = refuse(pid, reason);
		free(reason);
		return status;
	}
	if (firing_is_absent(TL_EXEC))
		return refuse(pid, FIRING_ABSENT);
	status = check_request(pid, request);
	if (!status)
		status = check_alone(pid);
	if (!status)
		status = prepare(&patching);
	if (!status)
		status = run(&patching);
	if (patching.graft)
		graft_free(patching.graft);
	return status;
}
