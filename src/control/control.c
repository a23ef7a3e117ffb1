/* SPDX-License-Identifier: Apache-2.0 */
#include "control/control.h"

#include "base/syscall.h"
#include "control/abandon.h"
#include "control/entries.h"
#include "control/linger.h"
#include "control/life.h"
#include "control/observed.h"
#include "control/private.h"
#include "control/restriction.h"
#include "control/switches.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRAIN_INTERVAL (20 * MILLISECOND)
#define DRAIN_INTERVAL_AGGRESSIVE (5 * MILLISECOND)
#define HOLD_PARTS_AGGRESSIVE 3000 /* of 10,000; see CONTROL_AGGRESSIVE_BUDGET */
#define PROMPT_SLICE 100000u	   /* ns: the kernel's least */
#define PROMPT_NICE (-20)
#define CHECK_INTERVAL (100 * MILLISECOND)
#define CHECK_INTERVAL_PAUSED (250 * MILLISECOND) /* at most: nothing is watched meanwhile */
#define ANNOUNCE_BOUND (100 * MILLISECOND)
/* Lasting watches must be there from the first instruction on, whatever symbols take to read. */
#define LASTING_BOUND (10 * SECOND)

static const struct {
	const char *name, *meaning;
} count_table[] = {
#define COUNT(identifier, name, meaning) [COUNT_##identifier] = {name, meaning},
#include "control/counts.def"
#undef COUNT
};
_Static_assert(sizeof(count_table) / sizeof(count_table[0]) == COUNT_COUNT, "all are named");

/* For the SIGCHLD handler, which rings the doorbell so that no end is waited for. */
static struct area *_Atomic signalled_area;

uint64_t control_clock(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t control_now(void)
{
	return control_clock(CLOCK_MONOTONIC);
}

/* xorshift64* (Vigna, 2016): good enough to choose with. */
uint64_t control_random(struct control *control)
{
	control->random ^= control->random >> 12;
	control->random ^= control->random << 25;
	control->random ^= control->random >> 27;
	return control->random * 0x2545f4914f6cdd1dull >> 16;
}

unsigned control_draw(struct control *control, const uint64_t *weight, unsigned count)
{
	uint64_t sum = 0, at;

	for (unsigned i = 0; i < count; i++)
		sum += weight[i];
	if (!sum)
		return count;
	at = control_random(control) % sum;
	for (unsigned i = 0; i < count; i++) {
		if (at < weight[i])
			return i;
		at -= weight[i];
	}
	return count;
}

void control_options_init(struct control_options *options)
{
	*options = (struct control_options){.budget = 1.0,
					    .slots = 3,
					    .follow = true,
					    .kernel = true,
					    .output = -1,
					    .area_fd = -1};
}

/* May this user see what the kernel touches? Asked by trying, on ourselves. */
static bool kernel_allowed(void)
{
	static const char byte;
	struct perf_request request = {.addr = (uintptr_t)&byte,
				       .length = 1,
				       .access = TL_WRITE,
				       .kernel = true,
				       .disabled = true};
	int fd = perf_open(&request, 0);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool matches(const struct control_globs *globs, const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->glob[i], path, 0) == 0 || fnmatch(globs->glob[i], name, 0) == 0)
			return true;
	return false;
}

bool control_wants_module(const struct control *control, const char *path)
{
	const struct control_options *options = &control->options;

	return (!options->include.count || matches(&options->include, path)) &&
	       !matches(&options->exclude, path);
}

static void on_child(int signal)
{
	struct area *area = atomic_load(&signalled_area);

	(void)signal;
	if (area)
		area_ring(area);
}

static int prepare_area(struct control *control, int fd)
{
	int err;

	if (fd < 0)
		return area_create(&control->area, &control->area_fd);
	err = area_open(&control->area, fd);
	if (err)
		return err;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	control->area_fd = fd;
	control->root = control->area->root;
	control->area->controller_fd = fd;
	control->area->controller = getpid();
	return 0;
}

/* A tenth of the budget. */
static void choose_allocations(struct control *control)
{
	struct allocation_choice *choice = &control->area->allocations;

	choice->all = control->options.allocations == CONTROL_ALLOCATIONS_ALL;
	choice->parts = (uint32_t)(control->options.budget * 10);
	if (!choice->parts)
		choice->parts = 1;
	atomic_store(&choice->on, control->options.allocations != CONTROL_ALLOCATIONS_NONE);
}

int control_create(struct control **control, const struct control_options *options,
		   const struct control_observer *observer)
{
	struct symbol_options symbols = {.size = sizeof(symbols)};
	struct control *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return -ENOMEM;
	symbols.reader = options->reader;
	err = symbol_session_open(&made->session, &symbols);
	if (!err)
		err = entries_create(made);
	if (!err)
		err = prepare_area(made, options->area_fd);
	if (err) {
		free(made->entries);
		if (made->session)
			symbol_session_close(made->session);
		free(made);
		return err;
	}
	made->options = *options;
	made->observer = *observer;
	made->options.kernel = options->kernel && kernel_allowed();
	made->total = -1;
	made->started = control_now();
	made->random = options->seed ? options->seed : made->started | 1;
	made->area->hold_parts = (uint32_t)(options->budget * 100);
	if (options->aggressive && made->area->hold_parts > HOLD_PARTS_AGGRESSIVE)
		made->area->hold_parts = HOLD_PARTS_AGGRESSIVE;
	made->area->announce_bound = options->lasting ? LASTING_BOUND : ANNOUNCE_BOUND;
	made->area->credit_cap = SECOND;
	made->area->hold_most = options->hold_most;
	made->area->follow = options->follow;
	abandon_prepare(made->area);
	handover_begin(made);
	life_begin(made->area);
	choose_allocations(made);
	duty_start(made);
	*control = made;
	return 0;
}

pid_t control_spawn(struct control *control, char *const argv[], const char *library)
{
	struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART};
	pid_t pid;

	atomic_store(&signalled_area, control->area);
	sigaction(SIGCHLD, &action, NULL);
	pid = launch(control, argv, library);
	if (pid > 0)
		abandon_begin(pid);
	return pid;
}

struct area *control_area(struct control *control)
{
	return control->area;
}

static void reap(struct control *control)
{
	int status;

	if (control->observing) {
		control->child_ended = observe_is_over(control);
		return;
	}
	if (control->lingering) {
		control->child_ended = observe_is_stopped() || linger_is_over(control);
		return;
	}
	if (is_attached(control)) {
		control->child_ended = observe_is_stopped() || attach_is_over(control);
		return;
	}
	if (!control->child_ended && waitpid(control->child, &status, WNOHANG) == control->child) {
		control->child_ended = true;
		control->child_status = status;
		abandon_settle(status);
	}
}

static void wait_for_work(struct control *control, uint32_t seen, uint64_t until)
{
	uint64_t now = control_now();
	struct timespec left = {0};

	if (now >= until)
		return;
	left.tv_sec = (time_t)((until - now) / SECOND);
	left.tv_nsec = (long)((until - now) % SECOND);
	/* Pairs with area_ring(): either that sees `waiting`, or this sees the doorbell moved. */
	atomic_store(&control->area->waiting, 1);
	raw_futex((uint32_t *)&control->area->doorbell, FUTEX_WAIT, seen, &left);
	atomic_store(&control->area->waiting, 0);
}

static void collect(struct control *control)
{
	if (control->observing)
		observe_step(control);
	else if (control->options.lasting)
		traces_collect(control);
	else
		hits_collect(control);
}

/* While there is nothing to spend, each look would cost what a watch could have. */
static uint64_t check_interval(const struct control *control, uint64_t now)
{
	uint64_t left = control->paused_until > now ? control->paused_until - now : 0;

	if (control->options.lasting || atomic_load(&control->area->limits_changed))
		return CHECK_INTERVAL;
	if (left > CHECK_INTERVAL_PAUSED)
		left = CHECK_INTERVAL_PAUSED;
	return left > CHECK_INTERVAL ? left : CHECK_INTERVAL;
}

static uint64_t drain_interval(const struct control *control, uint64_t now)
{
	/* Nothing to drain, and nobody to tell. */
	if (!control->samples && !control->observer.tick)
		return CHECK_INTERVAL;
	if (now < control->paused_until)
		return check_interval(control, now);
	/* Each look wakes a CPU; what a burst leaves is drained at its end. */
	if (!control->burst.on)
		return CHECK_INTERVAL;
	return control->options.aggressive ? DRAIN_INTERVAL_AGGRESSIVE : DRAIN_INTERVAL;
}

static uint64_t step(struct control *control)
{
	uint64_t now = control_now(), next;

	if (atomic_exchange(&control->area->unanswered, 0))
		count_one(control, COUNT_UNANSWERED);
	limits_follow(control);
	handover_run(control);
	targets_welcome(control);
	collect(control);
	if (now >= control->next_drain) {
		if (control->samples)
			sampling_drain(control);
		if (control->observer.tick)
			control->observer.tick(control->observer.context);
		control->next_drain = now + drain_interval(control, now);
	}
	if (now >= control->next_check) {
		unpaid_charge(control);
		targets_check(control);
		budget_check(control);
		switches_price(control, now);
		control->next_check = now + check_interval(control, now);
	}
	if (control->options.lasting)
		duty_run(control);
	else
		schedule_run(control);
	bursts_run(control);
	next = control->options.lasting ? duty_next(control) : schedule_next(control);
	if (handover_next(control) < next)
		next = handover_next(control);
	if (bursts_next(control) < next)
		next = bursts_next(control);
	if (control->next_drain < next)
		next = control->next_drain;
	return next < control->next_check ? next : control->next_check;
}

/* Threads that died in their holds still make pairs: while there is a tool to tell. */
static void end_targets(struct control *control)
{
	area_close(control->area);
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i])
			target_end(control->target[i]);
}

/*
 * A thread held waits for us, and so do those it stops. EEVDF lets a thread that asks for short
 * slices run sooner (sched_setattr(2): sched_runtime, since Linux 6.12; ignored before), and a
 * higher priority, where it is permitted, helps among many busy threads. What we take is bounded by
 * the budget either way.
 */
static void run_promptly(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = {.size = 48, .nice = getpriority(PRIO_PROCESS, 0), .runtime = PROMPT_SLICE};

	raw_syscall3(SYS_sched_setattr, 0, (long)&attributes, 0);
	if (attributes.nice == 0)
		setpriority(PRIO_PROCESS, 0, PROMPT_NICE);
}

static void run_loop(struct control *control)
{
	while (!control->child_ended) {
		uint32_t seen = atomic_load(&control->area->doorbell);
		uint64_t next;

		reap(control);
		if (control->child_ended)
			break;
		next = step(control);
		abandon_beat();
		if (control->observing)
			observe_wait(control, next);
		else
			wait_for_work(control, seen, next);
		if (!control->observing)
			pace_keep(control);
	}
	collect(control);
}

int control_run(struct control *control)
{
	run_promptly();
	control->filters = restriction_inherited();
	budget_start(control);
	run_loop(control);
	return control->child_status;
}

void control_run_on(struct control *control)
{
	control->lingering = true;
	control->child_ended = false;
	run_loop(control);
}

void control_finish(struct control *control)
{
	end_targets(control);
	control->count[COUNT_PROCESSES_UNENTERED] = atomic_load(&control->area->without_entry);
	control->count[COUNT_HITS_GONE] = atomic_load(&control->area->hits_gone);
	control->count[COUNT_TRAPS_WITHOUT_CAUSE] =
		atomic_load(&control->area->traps_without_cause);
	control->count[COUNT_PROGRAMS_UNENTERED] = atomic_load(&control->area->unentered);
	control->count[COUNT_PROCESSES_WITHDRAWN] = atomic_load(&control->area->withdrawn);
}

/* Silence every slot, for work that takes longer than a hold. */
void control_quiesce(struct control *control)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = control->target[i];

		for (unsigned j = 0; target && j < target->slots; j++)
			slot_disarm(target, &target->slot[j]);
	}
}

struct space *control_space(struct control *control, pid_t pid)
{
	struct target *target = target_find(control, pid);

	return target ? target->space : NULL;
}

void control_counts(const struct control *control, control_count_fn *each, void *context)
{
	for (int i = 0; i < COUNT_COUNT; i++)
		each(context, count_table[i].name, control->count[i], count_table[i].meaning);
	for (int i = 0; i < SYMBOL_STATISTIC_COUNT; i++)
		each(context, symbol_statistic_name(i),
		     symbol_session_statistic(control->session, i), symbol_statistic_meaning(i));
}

void control_destroy(struct control *control)
{
	end_targets(control);
	switches_end(control);
	samples_close(control->samples);
	if (control->total >= 0)
		close(control->total);
	atomic_store(&signalled_area, NULL);
	life_end();
	entries_destroy(control);
	area_unmap(control->area);
	close(control->area_fd);
	symbol_session_close(control->session);
	abandon_forget();
	free(control);
}
