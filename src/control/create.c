/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the controller: what each room is handed, and what programs find in the area. */
#include "control/control.h"

#include "base/clock.h"
#include "control/events.h"
#include "control/sampling.h"
#include "control/state.h"
#include "event/lethal.h"
#include "process/restriction.h"
#include "program/abandon.h"
#include "program/entries.h"
#include "program/life.h"
#include "program/own_limits.h"
#include "reader/open.h"
#include "strategy/strategies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define HOLD_PARTS_AGGRESSIVE 3000 /* of 10,000; see CONTROL_AGGRESSIVE_BUDGET */
#define ANNOUNCE_BOUND (100 * MILLISECOND)
/* Of waits by starting processes, lent at the start and after a rest. */
#define WAITS_LENT (200 * MILLISECOND)
#define PLACED_BOUND \
	SECOND /* what is watched from its birth is watched before its thread goes on */
/* ns that a process waits at its start at most, where watches are to be armed before its first
 * instruction: reading symbols may take seconds. */
#define FROM_START_BOUND (10 * SECOND)

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

/* May this user watch accesses by the kernel? Found out by opening such an event on this thread. */
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

/* Notes the time namespace's name for processes to compare theirs with. Where it cannot be read the
 * name is empty, and no process takes itself to be in another namespace by its name. */
static void note_time_namespace(struct area *area)
{
	ssize_t length = readlink("/proc/self/ns/time", area->time_namespace, AREA_NAMESPACE - 1);

	area->time_namespace[length < 0 ? 0 : length] = '\0';
}

static int prepare_area(struct control *control, int fd)
{
	int err;

	if (fd < 0)
		return own_limits_create_area(&control->program.area, &control->program.area_fd);
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

/* Remembering where blocks were allocated may take a tenth of the budget. */
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

/* The time that processes wait at their starts is a share of the program's time, as the budget
 * is. */
static void lend_waits(struct control *control)
{
	const struct control_options *options = &control->program.options;
	struct area_waits *waits = &control->program.area->waits;

	waits->rate.budget = (uint64_t)(options->budget / 100 * (double)SECOND);
	waits->rate.burst = rate_burst(waits->rate.budget, WAITS_LENT);
	atomic_store(&waits->on, !control->program.ways.from_start);
}

static void connect_explorer(struct control *made)
{
	made->explorer.program = &made->program;
	made->explorer.events = &control_explorer_events;
	made->explorer.manner = choosing_manners;
	made->explorer.budget = &made->budget;
	made->explorer.hits = &made->hits;
	made->explorer.requests = &made->requests;
	made->explorer.foreseer = &made->foreseer;
	made->explorer.team_loan = &made->team_loan;
	made->program.explorer = &made->explorer;
}

/* Stores each room's struct in `program`, where the room looks for it. */
static void connect_rooms(struct control *made)
{
	struct program *program = &made->program;

	made->hits.program = program;
	made->hits.events = &control_hit_events;
	made->placed = (struct placed){
		.events = &control_placed_events, .budget = &made->budget, .hits = &made->hits};
	made->lasting = (struct lasting){.trace = control_trace, .hits = &made->hits};
	made->notices.events = &control_notice_events;
	made->account = (struct account){
		.program = program, .budget = &made->budget, .windows = &made->windows};
	program->placed = &made->placed;
	program->lasting = &made->lasting;
	program->notices = &made->notices;
	program->account = &made->account;
}

/* Tried before the program is started, since a program would not wait for the result. */
static void try_filters(struct program *program)
{
	program->filters = restriction_inherited();
	program->count[COUNT_PROMPTNESS_FORBIDDEN] = lethal_promptness();
}

/* Samples take a third of the budget, and where nothing is chosen by them nobody looks at them. */
static bool needs_samples(const struct control *control)
{
	return control->program.options.slots || control->observer.sample;
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
	note_time_namespace(made->program.area);
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
	made->strategy = options->strategy ? options->strategy : &choosing_strategy;
	made->program.ways = made->strategy->ways;
	made->program.ways.sampled &= needs_samples(made);
	connect_rooms(made);
	connect_explorer(made);
	try_filters(&made->program);
	made->program.started = clock_now();
	made->program.random.state = options->seed ? options->seed : made->program.started | 1;
	made->program.area->hold_parts = (uint32_t)(options->budget * 100);
	if (options->aggressive && made->program.area->hold_parts > HOLD_PARTS_AGGRESSIVE)
		made->program.area->hold_parts = HOLD_PARTS_AGGRESSIVE;
	made->program.area->announce_bound = made->program.ways.from_start ? FROM_START_BOUND
					     : options->placed		   ? PLACED_BOUND
									   : ANNOUNCE_BOUND;
	made->program.area->credit_cap = SECOND;
	made->program.area->hold_most = options->hold_most;
	made->program.area->follow = options->follow;
	abandon_prepare(made->program.area);
	handover_begin(&made->program);
	life_begin(made->program.area);
	choose_allocations(made);
	lend_waits(made);
	if (made->strategy->start)
		made->strategy->start(&made->program);
	*control = made;
	return 0;
}
