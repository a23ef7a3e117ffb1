/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/windows.h"

#include "base/clock.h"
#include "event/threads.h"
#include "process/stat_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

/* A program may be over before a window of the usual length is. So for the first 60 ms of each of
 * the first four processes windows are short and follow each other quickly: four, since a shell or
 * env(1) may come before the program that is meant. */
#define FIRST (60 * MILLISECOND)
#define FIRSTS 4
#define WINDOW_FIRST (MILLISECOND / 2)
#define REST_FIRST (2 * MILLISECOND)
#define WINDOW (4 * MILLISECOND)
#define REST_SOON (36 * MILLISECOND)   /* in the beginning, when all is new */
#define REST_LATER (196 * MILLISECOND) /* at a budget of 1 percent and above; longer below */
/* Where armed slots are dear in all processes (target/transient.h): the clock of samples is, too,
 * and probes tell more there (answer/probe.c). */
#define WINDOW_SINGLE (2 * MILLISECOND)
#define REST_SINGLE (6000 * MILLISECOND)
#define BUDGET_PARTS 3 /* one part in so many of the budget is for samples */
#define SOON (4 * SECOND)
#define SWITCH_PARTS 100 /* a rest is at least so many times what switching takes */
#define PERIOD (MILLISECOND / 25)
#define PERIOD_AGGRESSIVE (MILLISECOND / 2)

/* With --aggressive the events stay on, without windows. */
static bool is_steady(const struct windows *windows)
{
	return windows->program->options.aggressive;
}

static bool is_silent(const struct windows *windows)
{
	return !windows->program->ways.sampled || (!windows->samples && !windows->transient);
}

uint64_t windows_period(const struct control_options *options)
{
	if (options->aggressive)
		return PERIOD_AGGRESSIVE;
	return PERIOD;
}

/* Is it an error to tell of? Not that the process has ended meanwhile. */
static bool fails(int err)
{
	return err && err != -ESRCH;
}

static void note_cpus(struct windows *windows)
{
	if (windows->samples)
		windows->program->count[COUNT_CPUS_UNSAMPLED] =
			samples_cpus_left_out(windows->samples);
}

static void add_threads(struct windows *windows, pid_t pid, pid_t but)
{
	struct thread_set threads = {0};

	thread_set_list(&threads, pid);
	for (size_t i = 0; i < threads.count; i++)
		if (threads.tids[i] != but && fails(samples_add(windows->samples, threads.tids[i])))
			count_one(windows->program, COUNT_THREADS_UNSAMPLED);
	thread_set_destroy(&threads);
}

/*
 * Is the process older than the events, so that it inherited none? The kernel tells its age in
 * ticks. One forked in the tick in which the events were opened counts as older, and each sample of
 * it as two: the other way round it might have none. Where events are transient the next window
 * opens them in all processes.
 */
static bool is_older(const struct windows *windows, pid_t pid)
{
	uint64_t tick = SECOND / (uint64_t)sysconf(_SC_CLK_TCK);

	return stat_file_number(pid, 0, STAT_STARTTIME) <= windows->opened / tick;
}

void windows_attach(struct windows *windows, pid_t pid)
{
	int err;

	if (!windows->program->ways.sampled)
		return;
	if (windows->samples) {
		if (!windows->transient && is_older(windows, pid))
			add_threads(windows, pid, 0);
		return;
	}
	windows->opened = clock_read(CLOCK_BOOTTIME);
	err = samples_open(&windows->samples, pid, windows_period(&windows->program->options),
			   false);
	note_cpus(windows);
	if (!err)
		add_threads(windows, pid, pid);
	else if (fails(err))
		count_one(windows->program, COUNT_CLOCKS_FAILED);
}

static void open_again(struct windows *windows)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = windows->program->target[i];

		if (target && !windows->samples)
			windows_attach(windows, target->pid);
		else if (target)
			add_threads(windows, target->pid, 0);
	}
}

/* Once slots are transient in one process, the samples' events are closed between windows, too, and
 * opened anew in all watched processes for each. Others are no longer sampled, and what was sampled
 * of them was dropped. */
static void become_transient(struct windows *windows)
{
	for (unsigned i = 0; i < AREA_PROCESSES && !windows->transient; i++)
		windows->transient = windows->program->target[i] &&
				     windows->program->target[i]->transient.on;
}

bool windows_are_new(const struct program *program, uint64_t now)
{
	return now - program->started < SOON;
}

/* The largest share of its CPU time in a window that any process pays for the clock of samples. */
static double timer_share(const struct windows *windows)
{
	double most = 0;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = windows->program->target[i];
		double share =
			target ? wakeups_timer_share(&target->wakeups, &windows->budget->prices)
			       : 0;

		most = share > most ? share : most;
	}
	return most;
}

/* ns of rest after which a window's samples, and what their clock costs threads that switch, have
 * taken one BUDGET_PARTS of the budget. */
static uint64_t affordable_rest(const struct windows *windows)
{
	double share = (double)atomic_load(&windows->budget->prices.sample) /
			       (double)windows_period(&windows->program->options) +
		       timer_share(windows);

	return (uint64_t)((double)WINDOW * share * 100 * BUDGET_PARTS /
			  windows->program->options.budget);
}

static bool all_are_single(const struct windows *windows)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (windows->program->target[i] && !armed_is_dear(windows->program->target[i]))
			return false;
	return windows->transient;
}

static bool is_first(const struct windows *windows, uint64_t now)
{
	return now < windows->first_until && !windows->transient;
}

static uint64_t rest(const struct windows *windows, uint64_t now)
{
	uint64_t least = SWITCH_PARTS * windows->switching, rest = REST_LATER;
	bool soon = windows_are_new(windows->program, now);

	if (all_are_single(windows))
		rest = soon ? REST_LATER : REST_SINGLE;
	else if (is_first(windows, now))
		rest = REST_FIRST;
	else if (soon)
		rest = windows->transient ? REST_LATER : REST_SOON;
	else if (affordable_rest(windows) > least)
		least = affordable_rest(windows);
	if (windows->program->options.budget < 1)
		rest = (uint64_t)((double)rest / windows->program->options.budget);
	return rest > least ? rest : least;
}

static uint64_t length(const struct windows *windows, uint64_t now)
{
	if (is_first(windows, now))
		return WINDOW_FIRST;
	return all_are_single(windows) ? WINDOW_SINGLE : WINDOW;
}

static void turn(struct windows *windows, bool on)
{
	uint64_t begin = clock_now(), used = clock_read(CLOCK_THREAD_CPUTIME_ID), now;

	if (on && windows->transient)
		open_again(windows);
	if (windows->samples && samples_switch(windows->samples, on))
		count_one(windows->program, COUNT_CLOCKS_FAILED);
	now = clock_now();
	windows->switching = (3 * windows->switching + (now - begin)) / 4;
	windows->program->interrupting += clock_read(CLOCK_THREAD_CPUTIME_ID) - used;
	if (on)
		windows->since = now;
	else if (windows->on)
		windows->time += now - windows->since;
	windows->on = on;
	windows->until = now + (on ? length(windows, now) : rest(windows, now));
	if (on)
		count_one(windows->program, COUNT_WINDOWS);
}

static void run_steadily(struct windows *windows)
{
	turn(windows, true);
	windows->until = UINT64_MAX;
}

/* Where slots are transient, the clocks are closed between windows: each switch of threads pays for
 * open ones as well. Also before a window has ended, since none may come. */
static void close_where_transient(struct windows *windows)
{
	become_transient(windows);
	if (windows->transient && !windows->on)
		windows_close(windows);
}

static void end_window(struct windows *windows)
{
	windows_drain(windows);
	turn(windows, false);
	close_where_transient(windows);
}

void windows_welcome(struct windows *windows)
{
	uint64_t now = clock_now();

	if (windows->firsts == FIRSTS)
		return;
	windows->firsts++;
	windows->first_until = now + FIRST;
	windows->until = now + (windows->on ? length(windows, now) : 0);
}

void windows_run(struct windows *windows)
{
	uint64_t now = clock_now();

	if (is_silent(windows))
		return;
	if (now < windows->until) {
		if (!is_steady(windows) && windows->samples && !windows->on)
			close_where_transient(windows);
		return;
	}
	if (is_steady(windows)) {
		run_steadily(windows);
	} else if (windows->on) {
		end_window(windows);
	} else if (now < windows->budget->paused_until) {
		windows->until = windows->budget->paused_until;
		close_where_transient(windows);
	} else {
		turn(windows, true);
	}
}

uint64_t windows_take_time(struct windows *windows)
{
	uint64_t time = windows->time, now = clock_now();

	if (windows->on) {
		time += now - windows->since;
		windows->since = now;
	}
	windows->time = 0;
	return time;
}

uint64_t windows_next(const struct windows *windows)
{
	return is_silent(windows) ? UINT64_MAX : windows->until;
}

int windows_launch(struct windows *windows, pid_t pid)
{
	int err = 0;

	if (windows->program->ways.sampled)
		err = samples_open(&windows->samples, pid,
				   windows_period(&windows->program->options), false);
	if (err)
		windows->samples = NULL;
	note_cpus(windows);
	return err;
}

void windows_drain(struct windows *windows)
{
	if (!windows->samples)
		return;
	samples_drain(windows->samples, windows->take, windows->context);
	windows->program->count[COUNT_SAMPLES_UNREAD] += samples_take_lost(windows->samples);
}

void windows_close(struct windows *windows)
{
	samples_close(windows->samples);
	windows->samples = NULL;
}
