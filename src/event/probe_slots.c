/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of the hardware slots: does each kind fire, in whom, and what ends it. */
#include "event/probe.h"

#include "base/syscall.h"
#include "event/experiment.h"
#include "event/machine.h"
#include "event/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <trapline/error.h>
#include <trapline/event.h>
#include <unistd.h>

#define SIGNAL_DATA 0x7261706c696e65u

static uint64_t watched __attribute__((aligned(8)));
static uint64_t other __attribute__((aligned(8)));

static void touch_write(void)
{
	__atomic_store_n(&watched, 1, __ATOMIC_RELAXED);
}

static void touch_read(void)
{
	(void)__atomic_load_n(&watched, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void run_through(void)
{
	__asm__ volatile("");
}

static struct perf_request request_for(unsigned access)
{
	return (struct perf_request){
		.addr = access & TL_EXEC ? (uintptr_t)run_through : (uintptr_t)&watched,
		.length = 8,
		.access = access,
		.signal = true,
		.data = SIGNAL_DATA,
	};
}

/* Opens an event on the calling thread of the child; notes what went wrong. */
static int open_here(struct experiment *experiment, const struct perf_request *request)
{
	int fd = perf_open(request, 0);

	if (fd < 0)
		experiment->error = fd;
	return fd;
}

static void body_write(struct experiment *experiment)
{
	struct perf_request request = request_for(TL_WRITE);

	if (open_here(experiment, &request) >= 0)
		touch_write();
}

/* Of an experiment whose event the parent has opened on this child: only the access is made here.
 */
static void body_touch(struct experiment *experiment)
{
	(void)experiment;
	touch_write();
}

static void body_read(struct experiment *experiment)
{
	struct perf_request request = request_for(TL_READ | TL_WRITE);

	if (open_here(experiment, &request) >= 0)
		touch_read();
}

static void body_execution(struct experiment *experiment)
{
	struct perf_request request = request_for(TL_EXEC);

	if (open_here(experiment, &request) >= 0)
		run_through();
}

static void body_move(struct experiment *experiment)
{
	struct perf_request request = request_for(TL_WRITE);
	int fd;

	request.addr = (uintptr_t)&other;
	fd = open_here(experiment, &request);
	if (fd < 0)
		return;
	request.addr = (uintptr_t)&watched;
	experiment->error = perf_modify(fd, &request);
	touch_write();
}

static void *thread_main(void *unused)
{
	touch_write();
	return unused;
}

static void body_threads(struct experiment *experiment)
{
	struct perf_request request = request_for(TL_WRITE);
	pthread_t thread;

	request.inherit = true;
	request.threads_only = true;
	if (open_here(experiment, &request) < 0)
		return;
	experiment->error = -pthread_create(&thread, NULL, thread_main, NULL);
	if (!experiment->error)
		pthread_join(thread, NULL);
}

static void body_children(struct experiment *experiment)
{
	struct perf_request request = request_for(TL_WRITE);
	pid_t child;

	request.inherit = true;
	if (open_here(experiment, &request) < 0)
		return;
	child = fork();
	if (child == 0) {
		touch_write();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void body_kernel(struct experiment *experiment)
{
	struct perf_request request = request_for(TL_WRITE);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	request.kernel = true;
	if (open_here(experiment, &request) >= 0)
		experiment->value = read(zero, &watched, sizeof(watched));
}

/*
 * The image executed here is this very program's dynamic loader or /bin/true: whatever it does at
 * the watched address must not be a hit, because it does not know what to do with one.
 */
static void body_exec(struct experiment *experiment)
{
	struct perf_request request = request_for(TL_WRITE);
	char program[] = "/bin/true";
	char *arguments[] = {program, NULL};
	pid_t child;
	int fd, status = 0;

	request.inherit = true;
	fd = open_here(experiment, &request);
	if (fd < 0)
		return;
	child = fork();
	if (child == 0) {
		execv(program, arguments);
		_exit(127);
	}
	waitpid(child, &status, 0);
	experiment->hits = status == 0;
	experiment->error = status ? -ENOEXEC : 0;
}

/* The common ways in which a firing experiment goes wrong; true when it fired. */
static bool fired(struct probe_outcome *outcome, const struct experiment *experiment)
{
	if (!experiment) {
		probe_say(outcome, PROBE_MISSING, "no child process could be made to try it");
		probe_advise(outcome, "raise the limit of processes (ulimit -u)");
	} else if (experiment->ending == SIGSYS) {
		probe_say(outcome, PROBE_MISSING, "a seccomp filter kills whoever tries it");
		probe_advise(outcome,
			     "allow perf_event_open(2) in the container's seccomp profile");
	} else if (experiment->ending) {
		probe_say(outcome, PROBE_MISSING, "the trial was ended by signal %d (%s)",
			  experiment->ending, strsignal(experiment->ending));
	} else if (experiment->error) {
		probe_say(outcome, PROBE_MISSING, "%s refused: %s",
			  machine_filter_refuses() ? "a seccomp filter" : "the kernel",
			  strerror(-experiment->error));
		probe_advise(outcome, "%s", tl_explain(experiment->error));
	} else if (!experiment->hits) {
		probe_say(outcome, PROBE_MISSING, "the kernel accepted it, and it never fired");
		probe_advise(outcome, "this virtual machine hides the debug registers (seen on AMD "
				      "SEV): use another kind of machine");
	} else {
		return true;
	}
	return false;
}

static void probe_firing(struct probe_outcome *outcome, experiment_fn *body)
{
	struct experiment *experiment = experiment_run(body);

	if (fired(outcome, experiment))
		probe_say(outcome, PROBE_WORKS, "it fired");
	experiment_end(experiment);
}

void probe_write(struct probe_outcome *outcome)
{
	struct experiment *experiment = experiment_run(body_write);

	if (fired(outcome, experiment)) {
		if (experiment->late || experiment->data != SIGNAL_DATA ||
		    experiment->address != (uintptr_t)&watched)
			probe_say(outcome, PROBE_MISSING,
				  "it fired, but not at once or without telling which event");
		else
			probe_say(outcome, PROBE_WORKS, "it fired, at once, and said which event");
	}
	experiment_end(experiment);
}

void probe_read(struct probe_outcome *outcome)
{
	probe_firing(outcome, body_read);
}

void probe_execution(struct probe_outcome *outcome)
{
	struct experiment *experiment = experiment_run(body_execution);

	if (fired(outcome, experiment)) {
		if (experiment->pc == (uintptr_t)run_through)
			probe_say(outcome, PROBE_WORKS, "it fired, before the instruction");
		else
			probe_say(outcome, PROBE_MISSING, "it fired after the instruction");
	}
	experiment_end(experiment);
}

void probe_move(struct probe_outcome *outcome)
{
	probe_firing(outcome, body_move);
}

void probe_threads(struct probe_outcome *outcome)
{
	probe_firing(outcome, body_threads);
}

void probe_children(struct probe_outcome *outcome)
{
	probe_firing(outcome, body_children);
}

void probe_exec(struct probe_outcome *outcome)
{
	struct experiment *experiment = experiment_run(body_exec);

	if (fired(outcome, experiment))
		probe_say(outcome, PROBE_WORKS, "the executed program ran undisturbed");
	experiment_end(experiment);
}

void probe_kernel(struct probe_outcome *outcome)
{
	struct experiment *experiment = experiment_run(body_kernel);

	if (fired(outcome, experiment))
		probe_say(outcome, PROBE_WORKS, "read(2) into watched memory was seen");
	else if (experiment && !machine_filter_refuses() &&
		 (experiment->error == -EACCES || experiment->error == -EPERM))
		probe_advise(outcome, "sysctl kernel.perf_event_paranoid=1%s",
			     machine_paranoid() > 2
				     ? ""
				     : ", or give CAP_PERFMON (setcap cap_perfmon+ep)");
	experiment_end(experiment);
}

void probe_other_process(struct probe_outcome *outcome)
{
	struct perf_request request = request_for(TL_WRITE);
	struct experiment *experiment;
	int fd;

	request.inherit = true;
	request.threads_only = true;
	experiment = experiment_start(body_touch);
	if (experiment) {
		fd = perf_open(&request, experiment->child);
		if (fd < 0)
			experiment->error = fd;
		experiment_finish(experiment);
		if (fd >= 0)
			raw_close(fd);
	}
	if (fired(outcome, experiment))
		probe_say(outcome, PROBE_WORKS, "it fired in a child, opened by its parent");
	experiment_end(experiment);
}

/* 0, or the error with which the calling thread may open no breakpoint, whatever is free. */
static int refusal(void)
{
	struct perf_request request = request_for(TL_WRITE);
	int fd;

	request.disabled = true;
	fd = perf_open(&request, 0);
	if (fd >= 0)
		raw_close(fd);
	return fd == -EPERM || fd == -EACCES || fd == -ENOSYS ? fd : 0;
}

void probe_slots(struct probe_outcome *outcome)
{
	int err = refusal(), slots = err ? 0 : perf_free_slots(0);

	if (err) {
		probe_say(outcome, PROBE_MISSING, "not tried: none may be opened");
		probe_advise(outcome, "%s", tl_explain(err));
	} else if (slots == 0) {
		probe_say(outcome, PROBE_MISSING, "none is free");
		probe_advise(outcome, "%s", tl_explain(-ENOSPC));
	} else if (slots < 4) {
		probe_say(outcome, PROBE_LIMITED, "%d free", slots);
		probe_advise(outcome, "%s", tl_explain(-ENOSPC));
	} else {
		probe_say(outcome, PROBE_WORKS, "%d free", slots);
	}
}
