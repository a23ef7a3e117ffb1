/* SPDX-License-Identifier: Apache-2.0 */
#include "control/control.h"

#include "arrival/attach.h"
#include "arrival/enter.h"
#include "arrival/launch.h"
#include "base/clock.h"
#include "base/syscall.h"
#include "choice/requests.h"
#include "control/events.h"
#include "control/state.h"
#include "observe/observe.h"
#include "program/abandon.h"
#include "program/entries.h"
#include "program/life.h"
#include "reader/open.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRAIN_INTERVAL (20 * MILLISECOND)
#define DRAIN_INTERVAL_AGGRESSIVE (5 * MILLISECOND)
#define PROMPT_SLICE 100000u /* ns: the shortest slice that the kernel accepts */
#define PROMPT_NICE (-20)
#define CHECK_INTERVAL (100 * MILLISECOND)
#define CHECK_INTERVAL_PAUSED                                               \
	(250 * MILLISECOND) /* at most, while the budget pauses all watches \
			     */

static const struct {
	const char *name, *meaning;
} count_table[] = {
#define COUNT(identifier, name, meaning) [COUNT_##identifier] = {name, meaning},
#include "program/counts.def"
#undef COUNT
};
_Static_assert(sizeof(count_table) / sizeof(count_table[0]) == COUNT_COUNT, "all are named");

/* The area whose doorbell the SIGCHLD handler rings, so that the end of a child wakes the loop. */
static struct area *_Atomic signalled_area;

static void on_child(int signal)
{
	struct area *area = atomic_load(&signalled_area);

	(void)signal;
	if (area)
		area_ring(area);
}

static pid_t spawn(struct control *control, char *const argv[], const char *library,
		   enum enter_when when)
{
	struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART}, before;
	struct launch launch;
	pid_t pid;

	atomic_store(&signalled_area, control->program.area);
	sigaction(SIGCHLD, &action, &before);
	launch = (struct launch){.program = &control->program,
				 .limits = &control->limits,
				 .windows = &control->windows,
				 .child_ends_ignored = before.sa_handler == SIG_IGN,
				 .argv = argv,
				 .library = library,
				 .entry = when};
	pid = launch_program(&launch);
	if (pid > 0)
		abandon_begin(pid);
	return pid;
}

pid_t control_spawn(struct control *control, char *const argv[], const char *library)
{
	return spawn(control, argv, library, ENTER_NONE);
}

pid_t control_spawn_entered(struct control *control, char *const argv[], enum enter_when when)
{
	return spawn(control, argv, NULL, when);
}

void control_rouse(struct control *control)
{
	atomic_store(&control->roused, true);
	area_ring(control->program.area);
}

struct program *control_program(struct control *control)
{
	return &control->program;
}

struct area *control_area(struct control *control)
{
	return control->program.area;
}

static void reap(struct control *control)
{
	bool stopped = atomic_load(&control->program.stopped);
	int status;

	if (control->observing) {
		control->child_ended = stopped || observe_is_over(&control->program);
		return;
	}
	if (control->lingering) {
		control->child_ended =
			stopped || linger_is_over(&control->linger, &control->program) ||
			(control->linger_until && clock_now() >= control->linger_until);
		return;
	}
	if (program_is_attached(&control->program)) {
		control->child_ended = stopped ||
				       attach_is_over(&control->linger, &control->program) ||
				       entered_is_over(&control->program);
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
	/* Pairs with area_ring(): either area_ring() sees `waiting`, or this sees the doorbell
	 * moved. */
	atomic_store(&control->program.area->waiting, 1);
	raw_futex((uint32_t *)&control->program.area->doorbell, FUTEX_WAIT, seen, &left);
	atomic_store(&control->program.area->waiting, 0);
}

/* Takes the hits that have arrived: first those of watches that tools placed, in the order in which
 * they were made. */
static void collect_hits(struct control *control)
{
	placed_collect(&control->program);
	control->strategy->collect(&control->program);
}

static void collect(struct control *control)
{
	if (control->observing)
		observe_step(&control->program);
	else
		collect_hits(control);
}

/* The time between two checks, ns. It is longer while the budget is spent: each check would take
 * from it what a watch could have cost. */
static uint64_t check_interval(const struct control *control, uint64_t now)
{
	uint64_t left = control->budget.paused_until > now ? control->budget.paused_until - now : 0;

	if (!control->program.ways.budgeted || atomic_load(&control->program.area->limits_changed))
		return CHECK_INTERVAL;
	if (left > CHECK_INTERVAL_PAUSED)
		left = CHECK_INTERVAL_PAUSED;
	return left > CHECK_INTERVAL ? left : CHECK_INTERVAL;
}

static uint64_t drain_interval(const struct control *control, uint64_t now)
{
	/* No strategy samples, and no tool asked for tick(). */
	if (!control->windows.samples && !control->observer.tick)
		return CHECK_INTERVAL;
	if (now < control->budget.paused_until)
		return check_interval(control, now);
	/* Between sampling windows nothing new arrives, and each look wakes a CPU: what a window
	 * has left in the rings is drained at its end. Tools that place watches without samples
	 * are asked all the time whether there is another one. */
	if (!control->windows.on &&
	    (control->program.ways.sampled || !control->program.options.placed))
		return CHECK_INTERVAL;
	return control->program.options.aggressive ? DRAIN_INTERVAL_AGGRESSIVE : DRAIN_INTERVAL;
}

/* Opens and closes sampling windows. The rings are drained as soon as a window opens, since the
 * last drain was scheduled without it. */
static void run_windows(struct control *control, uint64_t now)
{
	bool were_on = control->windows.on;

	windows_run(&control->windows);
	if (!were_on && control->windows.on)
		control->next_drain = now;
}

static void count_looked(struct control *control)
{
	control->program.count[COUNT_THREADS_SEEN] = control->looked.threads.members;
	control->program.count[COUNT_CODE_RAN] = control->looked.ran.members;
	control->program.count[COUNT_CODE_REACHED] = control->looked.reached.members;
}

static void settle(struct control *control)
{
	account_settle(&control->account);
	count_looked(control);
}

static uint64_t step(struct control *control)
{
	uint64_t now = clock_now(), next;

	atomic_store_explicit(&control->program.area->clock, now, memory_order_relaxed);
	if (atomic_exchange(&control->program.area->unanswered, 0))
		count_one(&control->program, COUNT_UNANSWERED);
	limits_follow(&control->limits);
	handover_run(&control->program);
	targets_welcome(&control->program);
	entered_go(&control->program);
	collect(control);
	if (now >= control->next_drain || atomic_exchange(&control->roused, false)) {
		windows_drain(&control->windows);
		if (control->observer.tick)
			control->observer.tick(control->observer.context);
		control->next_drain = now + drain_interval(control, now);
	}
	if (now >= control->next_check) {
		unpaid_charge(&control->limits);
		entered_look(&control->program);
		limits_suit_cover(&control->limits);
		targets_check(&control->program);
		settle(control);
		control->next_check = now + check_interval(control, now);
	}
	placed_run(&control->program);
	control->strategy->run(&control->program);
	run_windows(control, now);
	next = control->strategy->next(&control->program);
	if (placed_next(&control->program) < next)
		next = placed_next(&control->program);
	if (handover_next(&control->program) < next)
		next = handover_next(&control->program);
	if (windows_next(&control->windows) < next)
		next = windows_next(&control->windows);
	if (control->next_drain < next)
		next = control->next_drain;
	return next < control->next_check ? next : control->next_check;
}

/* Ends the watching of every process. Called while tools can still be told: threads that died in
 * their holds make pairs now. */
static void end_targets(struct control *control)
{
	area_close(control->program.area);
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->program.target[i])
			target_end(control->program.target[i]);
}

/*
 * A held thread waits for the controller, and so do the threads that it stops: the controller must
 * get a CPU soon. EEVDF lets a thread that asks for short slices run sooner (sched_setattr(2):
 * sched_runtime, since Linux 6.12; ignored before), and a higher priority, where it is permitted,
 * helps among many busy threads. What the controller uses is bounded by the budget in either case.
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
		if (control->linger_until && next > control->linger_until)
			next = control->linger_until;
		abandon_beat();
		if (control->observing)
			observe_wait(&control->program, next);
		else
			wait_for_work(control, seen, next);
		if (!control->observing)
			account_pause(&control->account);
	}
	collect(control);
}

int control_run(struct control *control)
{
	run_promptly(control);
	if (!control->program.ways.unread)
		symbol_session_prepare(control->program.session);
	account_begin(&control->account);
	run_loop(control);
	return control->child_status;
}

int control_observe(struct control *control, pid_t pid)
{
	int err = observe_begin(&control->program, pid, &control_observe_events);

	control->observing |= !err;
	return err;
}

void control_stop(struct control *control)
{
	atomic_store(&control->program.stopped, true);
	area_ring(control->program.area);
}

unsigned control_others(struct control *control)
{
	return control->observing ? 0 : linger_others(&control->program);
}

void control_run_on(struct control *control)
{
	control->lingering = true;
	control->child_ended = false;
	run_loop(control);
}

void control_run_briefly(struct control *control, uint64_t time)
{
	control->linger_until = clock_now() + time;
	control_run_on(control);
	control->linger_until = 0;
}

void control_prepare_copy(struct control *control)
{
	prices_end(&control->budget.prices);
}

int control_take_over(struct control *control)
{
	__atomic_store_n(&control->program.area->controller, getpid(), __ATOMIC_RELAXED);
	abandon_take_over();
	life_begin(control->program.area);
	return control->windows.samples ? samples_map_again(control->windows.samples) : 0;
}

void control_finish(struct control *control)
{
	account_close(&control->account);
	count_looked(control);
	end_targets(control);
	control->program.count[COUNT_PROCESSES_UNENTERED] +=
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

/* Silences every slot, before work that takes longer than a hold. */
void control_quiesce(struct control *control)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = control->program.target[i];

		for (unsigned j = 0; target && j < target->slots; j++)
			slot_disarm(target, &target->slot[j]);
	}
}

/* Accepted: the signal reaches another process if the thread ends just after it was looked at and
 * every other id has been given out meanwhile. */
int control_signal(struct control *control, pid_t pid, pid_t tid, int signal)
{
	const struct target *target = target_find(&control->program, pid);

	if (!target || target_has_ended(target))
		return -ESRCH;
	if (tid)
		return (int)raw_syscall3(SYS_tgkill, pid, tid, signal);
	return (int)raw_syscall6(SYS_pidfd_send_signal, target->pidfd, signal, 0, 0, 0, 0);
}

bool control_waits(const struct control *control, pid_t pid)
{
	const struct target *target = target_find(&control->program, pid);

	return target &&
	       (atomic_load(&target->shared->waits) || entered_is_held(&control->program, pid));
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

bool control_guards_all(const struct control *control)
{
	return control->program.area->guard.all;
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
