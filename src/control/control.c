/* SPDX-License-Identifier: Apache-2.0 */
#include "control/control.h"

#include "base/syscall.h"
#include "event/lethal.h"
#include "program/abandon.h"
#include "control/enter.h"
#include "program/entries.h"
#include "control/linger.h"
#include "program/life.h"
#include "control/observed.h"
#include "control/placed.h"
#include "control/account.h"
#include "control/attach.h"
#include "control/duty.h"
#include "control/events.h"
#include "control/lasting.h"
#include "control/launch.h"
#include "control/sampling.h"
#include "control/state.h"
#include "base/clock.h"
#include "process/restriction.h"
#include "reader/open.h"

#include <errno.h>
#include <fcntl.h>
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
#define WAITS_LENT (200 * MILLISECOND) /* of waiting, at the start and after a rest */
#define PLACED_BOUND \
	SECOND /* what is watched from its birth is watched before its thread goes on */
/* Lasting watches must be there from the first instruction on, whatever symbols take to read. */
#define LASTING_BOUND (10 * SECOND)

static const struct {
	const char *name, *meaning;
} count_table[] = {
#define COUNT(identifier, name, meaning) [COUNT_##identifier] = {name, meaning},
#include "program/counts.def"
#undef COUNT
};
_Static_assert(sizeof(count_table) / sizeof(count_table[0]) == COUNT_COUNT, "all are named");

/* For the SIGCHLD handler, which rings the doorbell so that no end is waited for. */
static struct area *_Atomic signalled_area;

void control_options_init(struct control_options *options)
{
	*options = (struct control_options){.budget = 1.0,
					    .loan = -1,
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
		return area_create(&control->program.area, &control->program.area_fd);
	err = area_open(&control->program.area, fd);
	if (err)
		return err;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	control->program.area_fd = fd;
	control->program.root = control->program.area->root;
	control->program.area->controller_fd = fd;
	control->program.area->controller = getpid();
	return 0;
}

/* A tenth of the budget. */
static void choose_allocations(struct control *control)
{
	struct allocation_choice *choice = &control->program.area->allocations;

	choice->all = control->program.options.allocations == CONTROL_ALLOCATIONS_ALL;
	choice->parts = (uint32_t)(control->program.options.budget * 10);
	if (!choice->parts)
		choice->parts = 1;
	choice->births = control->program.options.births;
	atomic_store(&choice->on, control->program.options.allocations != CONTROL_ALLOCATIONS_NONE);
}

/* What processes wait is taken from the program's time, as the budget is. Lasting watches and
 * limits must be there from the first instruction on. */
static void lend_waits(struct control *control)
{
	const struct control_options *options = &control->program.options;
	struct area_waits *waits = &control->program.area->waits;

	waits->rate.budget = (uint64_t)(options->budget / 100 * (double)SECOND);
	waits->rate.burst = rate_burst(waits->rate.budget, WAITS_LENT);
	atomic_store(&waits->on, !options->lasting && !options->limits_only);
}

static const struct strategy *strategy_of(const struct control_options *options)
{
	if (options->lasting)
		return &lasting_strategy;
	return options->stall_first ? &stall_first_strategy : &choosing_strategy;
}

static void connect_explorer(struct control *made)
{
	made->explorer.program = &made->program;
	made->explorer.events = &control_explorer_events;
	made->explorer.budget = &made->budget;
	made->explorer.hits = &made->hits;
	made->program.explorer = &made->explorer;
}

/* Before there is a program, which would not wait for it. */
static void try_filters(struct program *program)
{
	program->filters = restriction_inherited();
	program->count[COUNT_PROMPTNESS_FORBIDDEN] = lethal_promptness();
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
	symbols.reader_may_slow = !lethal_promptness();
	err = symbol_session_open(&made->program.session, &symbols);
	if (!err)
		err = entries_create(&made->program);
	if (!err)
		err = prepare_area(made, options->area_fd);
	if (err) {
		free(made->program.entries);
		if (made->program.session)
			symbol_session_close(made->program.session);
		free(made);
		return err;
	}
	made->program.events = &control_events;
	made->program.prices = &made->budget.prices;
	made->program.control = made;
	made->windows = (struct windows){.program = &made->program,
					 .budget = &made->budget,
					 .take = sampling_take,
					 .context = made};
	made->program.options = *options;
	made->observer = *observer;
	made->program.options.kernel = options->kernel && kernel_allowed();
	limits_init(&made->limits, &made->program);
	made->strategy = strategy_of(options);
	made->program.ways = made->strategy->ways;
	made->hits.program = &made->program;
	made->hits.events = &control_hit_events;
	connect_explorer(made);
	try_filters(&made->program);
	made->program.started = clock_now();
	made->program.random.state = options->seed ? options->seed : made->program.started | 1;
	made->program.area->hold_parts = (uint32_t)(options->budget * 100);
	if (options->aggressive && made->program.area->hold_parts > HOLD_PARTS_AGGRESSIVE)
		made->program.area->hold_parts = HOLD_PARTS_AGGRESSIVE;
	made->program.area->announce_bound = options->lasting  ? LASTING_BOUND
					     : options->placed ? PLACED_BOUND
							       : ANNOUNCE_BOUND;
	made->program.area->credit_cap = SECOND;
	made->program.area->hold_most = options->hold_most;
	made->program.area->follow = options->follow;
	abandon_prepare(made->program.area);
	handover_begin(&made->program);
	life_begin(made->program.area);
	choose_allocations(made);
	lend_waits(made);
	duty_start(made);
	*control = made;
	return 0;
}

static pid_t spawn(struct control *control, char *const argv[], const char *library,
		   enum control_entry entry)
{
	struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART};
	pid_t pid;

	atomic_store(&signalled_area, control->program.area);
	sigaction(SIGCHLD, &action, NULL);
	pid = launch(control, argv, library, entry);
	if (pid > 0)
		abandon_begin(pid);
	return pid;
}

pid_t control_spawn(struct control *control, char *const argv[], const char *library)
{
	return spawn(control, argv, library, CONTROL_ENTRY_NONE);
}

pid_t control_spawn_entered(struct control *control, char *const argv[], enum control_entry entry)
{
	return spawn(control, argv, NULL, entry);
}

void control_rouse(struct control *control)
{
	atomic_store(&control->roused, true);
	area_ring(control->program.area);
}

struct area *control_area(struct control *control)
{
	return control->program.area;
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
	if (program_is_attached(&control->program)) {
		control->child_ended = observe_is_stopped() || attach_is_over(control) ||
				       entered_is_over(control);
		return;
	}
	if (!control->child_ended &&
	    waitpid(control->program.child, &status, WNOHANG) == control->program.child) {
		control->child_ended = true;
		control->child_status = status;
		abandon_settle(status);
	}
}

static void wait_for_work(struct control *control, uint32_t seen, uint64_t until)
{
	uint64_t now = clock_now();
	struct timespec left = {0};

	if (now >= until)
		return;
	left.tv_sec = (time_t)((until - now) / SECOND);
	left.tv_nsec = (long)((until - now) % SECOND);
	/* Pairs with area_ring(): either that sees `waiting`, or this sees the doorbell moved. */
	atomic_store(&control->program.area->waiting, 1);
	raw_futex((uint32_t *)&control->program.area->doorbell, FUTEX_WAIT, seen, &left);
	atomic_store(&control->program.area->waiting, 0);
}

/* Of watches that tools placed first, in the order in which they were made. */
static void collect_hits(struct control *control)
{
	if (!control->program.options.lasting)
		placed_collect(control);
	control->strategy->collect(&control->program);
}

static void collect(struct control *control)
{
	if (control->observing)
		observe_step(control);
	else
		collect_hits(control);
}

/* While there is nothing to spend, each look would cost what a watch could have. */
static uint64_t check_interval(const struct control *control, uint64_t now)
{
	uint64_t left = control->budget.paused_until > now ? control->budget.paused_until - now : 0;

	if (control->program.options.lasting || atomic_load(&control->program.area->limits_changed))
		return CHECK_INTERVAL;
	if (left > CHECK_INTERVAL_PAUSED)
		left = CHECK_INTERVAL_PAUSED;
	return left > CHECK_INTERVAL ? left : CHECK_INTERVAL;
}

static uint64_t drain_interval(const struct control *control, uint64_t now)
{
	/* Nothing to drain, and nobody to tell. */
	if (!control->windows.samples && !control->observer.tick)
		return CHECK_INTERVAL;
	if (now < control->budget.paused_until)
		return check_interval(control, now);
	/* Each look wakes a CPU; what a window leaves is drained at its end. */
	if (!control->windows.on)
		return CHECK_INTERVAL;
	return control->program.options.aggressive ? DRAIN_INTERVAL_AGGRESSIVE : DRAIN_INTERVAL;
}

/* What a window shows is read as it comes, not when the last look was due. */
static void run_windows(struct control *control, uint64_t now)
{
	bool were_on = control->windows.on;

	windows_run(&control->windows);
	if (!were_on && control->windows.on)
		control->next_drain = now;
}

static uint64_t step(struct control *control)
{
	uint64_t now = clock_now(), next;

	if (atomic_exchange(&control->program.area->unanswered, 0))
		count_one(&control->program, COUNT_UNANSWERED);
	limits_follow(&control->limits);
	handover_run(&control->program);
	targets_welcome(&control->program);
	entered_go(control);
	collect(control);
	if (now >= control->next_drain || atomic_exchange(&control->roused, false)) {
		windows_drain(&control->windows);
		if (control->observer.tick)
			control->observer.tick(control->observer.context);
		control->next_drain = now + drain_interval(control, now);
	}
	if (now >= control->next_check) {
		unpaid_charge(&control->limits);
		entered_look(control);
		limits_suit_stacks(&control->limits);
		targets_check(&control->program);
		account_settle(control);
		control->next_check = now + check_interval(control, now);
	}
	placed_run(control);
	control->strategy->run(&control->program);
	run_windows(control, now);
	next = control->strategy->next(&control->program);
	if (placed_next(control) < next)
		next = placed_next(control);
	if (handover_next(&control->program) < next)
		next = handover_next(&control->program);
	if (windows_next(&control->windows) < next)
		next = windows_next(&control->windows);
	if (control->next_drain < next)
		next = control->next_drain;
	return next < control->next_check ? next : control->next_check;
}

/* Threads that died in their holds still make pairs: while there is a tool to tell. */
static void end_targets(struct control *control)
{
	area_close(control->program.area);
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->program.target[i])
			target_end(control->program.target[i]);
}

/*
 * A thread held waits for us, and so do those it stops. EEVDF lets a thread that asks for short
 * slices run sooner (sched_setattr(2): sched_runtime, since Linux 6.12; ignored before), and a
 * higher priority, where it is permitted, helps among many busy threads. What we take is bounded by
 * the budget either way.
 */
static void run_promptly(struct control *control)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = {.size = 48, .nice = getpriority(PRIO_PROCESS, 0), .runtime = PROMPT_SLICE};

	if (control->program.count[COUNT_PROMPTNESS_FORBIDDEN])
		return;
	raw_syscall3(SYS_sched_setattr, 0, (long)&attributes, 0);
	if (attributes.nice == 0)
		setpriority(PRIO_PROCESS, 0, PROMPT_NICE);
}

static void run_loop(struct control *control)
{
	while (!control->child_ended) {
		uint32_t seen = atomic_load(&control->program.area->doorbell);
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
			account_pause(control);
	}
	collect(control);
}

int control_run(struct control *control)
{
	run_promptly(control);
	if (!control->program.options.limits_only)
		symbol_session_prepare(control->program.session);
	account_begin(control);
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
	account_close(control);
	end_targets(control);
	control->program.count[COUNT_PROCESSES_UNENTERED] =
		atomic_load(&control->program.area->without_entry);
	control->program.count[COUNT_PROCESSES_UNWAITED] =
		atomic_load(&control->program.area->waits.passed);
	control->program.count[COUNT_PROCESSES_SHORT] =
		atomic_load(&control->program.area->waits.ended);
	control->program.count[COUNT_TIME_WAITED] =
		atomic_load(&control->program.area->waits.waited) / MILLISECOND;
	control->program.count[COUNT_HITS_GONE] = atomic_load(&control->program.area->hits_gone);
	control->program.count[COUNT_TRAPS_WITHOUT_CAUSE] =
		atomic_load(&control->program.area->traps_without_cause);
	control->program.count[COUNT_PROGRAMS_UNENTERED] =
		atomic_load(&control->program.area->unentered);
	control->program.count[COUNT_CHILDREN_UNSEEN] = atomic_load(&control->program.area->unseen);
	control->program.count[COUNT_PROCESSES_WITHDRAWN] =
		atomic_load(&control->program.area->withdrawn);
}

/* Silence every slot, for work that takes longer than a hold. */
void control_quiesce(struct control *control)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = control->program.target[i];

		for (unsigned j = 0; target && j < target->slots; j++)
			slot_disarm(target, &target->slot[j]);
	}
}

/* A thread's id is another process's only when this one has ended just after it was looked at, and
 * every other id has been given meanwhile. */
int control_signal(struct control *control, pid_t pid, pid_t tid, int signal)
{
	const struct target *target = target_find(&control->program, pid);

	if (!target || target_has_ended(target))
		return -ESRCH;
	if (tid)
		return (int)raw_syscall3(SYS_tgkill, pid, tid, signal);
	return (int)raw_syscall6(SYS_pidfd_send_signal, target->pidfd, signal, 0, 0, 0, 0);
}

int control_watch(struct control *control, const struct tl_watch *watch)
{
	return request_add(&control->explorer, watch);
}

struct space *control_space(struct control *control, pid_t pid)
{
	struct target *target = target_find(&control->program, pid);

	return target ? target->space : NULL;
}

bool control_kernel_told(const struct control *control)
{
	return control->program.options.kernel;
}

void control_counts(const struct control *control, control_count_fn *each, void *context)
{
	for (int i = 0; i < COUNT_COUNT; i++)
		each(context, count_table[i].name, control->program.count[i],
		     count_table[i].meaning);
	for (int i = 0; i < SYMBOL_STATISTIC_COUNT; i++)
		each(context, symbol_statistic_name(i),
		     symbol_session_statistic(control->program.session, i),
		     symbol_statistic_meaning(i));
}

void control_destroy(struct control *control)
{
	end_targets(control);
	prices_end(&control->budget.prices);
	windows_close(&control->windows);
	limits_end(&control->limits);
	atomic_store(&signalled_area, NULL);
	life_end();
	entries_destroy(&control->program);
	free(control->program.entered);
	area_unmap(control->program.area);
	close(control->program.area_fd);
	symbol_session_close(control->program.session);
	abandon_forget();
	free(control);
}
