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

struct patching {
	pid_t pid;
	const struct patch_request *request;
	struct graft *graft;
	struct control *control;
	uint64_t until; /* ns when it is patched at the latest; 0: it has not begun */
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
	for (uint32_t i = 0; i < request->count; i++)
		if (request->change[i].original_file_offset)
			return refuse(pid, "the fix has a variable original_OLD, which only a "
					   "program started with `trapline run` can be told");
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
	for (uint32_t i = 0; i < request->count; i++)
		if (graft_add(patching->graft, request->change[i].old_address,
			      request->change[i].new_file_offset, &error)) {
			utf8_fprintf(stderr,
				     "trapline: process %d was not patched: the function at 0x%llx "
				     "%s\n",
				     (int)patching->pid,
				     (unsigned long long)request->change[i].old_address,
				     error.text);
			return STATUS_FAILED;
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

static bool is_whole(const struct patching *patching)
{
	for (uint32_t i = 0; i < patching->request->count; i++)
		if (!lasting_is_open_in_all(control_program(patching->control), patching->pid, i))
			return false;
	return true;
}

static void tell(const struct patching *patching)
{
	if (!is_whole(patching))
		utf8_fprintf(stderr,
			     "trapline: some threads of process %d may go on calling the old "
			     "functions: they have SIGTRAP blocked, a system-call filter or too "
			     "small a signal stack, or began at that moment\n",
			     (int)patching->pid);
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

/* Threads that come later would have to be asked for their stacks first. */
static bool comes_upon_stacks(const struct patching *patching)
{
	return entered_stacks(control_program(patching->control), injection_of(patching)->index)
		->exposed;
}

static void begin(void *context, pid_t pid)
{
	struct patching *patching = context;

	if (pid != patching->pid || patching->until)
		return;
	patching->until = clock_now() + PATIENCE;
	if (comes_upon_stacks(patching))
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
}

static int tell_failure(const struct patching *patching)
{
	struct inject_reason reason;

	if (patching->err == -EOPNOTSUPP)
		return refuse(patching->pid,
			      "handlers of its signals run on alternate stacks, where threads that "
			      "it makes later could not be patched; start it with `trapline run`");
	permission_explain_events(&reason, patching->pid, patching->err);
	return refuse(patching->pid, patching->err == -ENOSPC
					     ? "no hardware slot is free for each of the functions"
					     : reason.text);
}

/* A thread may be inside for ever: what was ever led to stays. */
static int end(struct patching *patching)
{
	struct injection *injection = injection_of(patching);

	if (injection && patching->on)
		inject_redirect_switch(injection, false);
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

static int run(struct patching *patching, uint64_t duration)
{
	const struct control_observer observer = {
		.process_began = begin, .tick = tick, .context = patching};
	struct control_options options;
	int status;

	control_options_init(&options);
	options.strategy = &redirects_strategy;
	options.budget = 100; /* they never rest */
	options.follow = false;
	options.duration = duration;
	status = control_create(&patching->control, &options, &observer);
	if (status < 0)
		return refuse(patching->pid, strerror(-status));
	status = enter(patching);
	control_destroy(patching->control);
	return status;
}

int patch_enter(pid_t pid, const struct patch_request *request, uint64_t duration)
{
	struct patching patching = {.pid = pid, .request = request};
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
		status = run(&patching, duration);
	if (patching.graft)
		graft_free(patching.graft);
	return status;
}
