/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lasting watch within a budget: a slot whose hits cost more of the program's time than they may
 * is silenced until time has paid for them, then watches again; so it samples. Hits in between are
 * not seen, and are estimated.
 *
 * Cost: the trap and the signal of each hit, as measured on this machine, and what the handler
 * took, as it measured itself. Each slot earns its share of the budget as time passes.
 *
 * Estimate: hits per CPU time of the process while it was watched, times its CPU time while it was
 * not. CPU time spent on hits is taken off the former. Where hardly any is left, as in a loop that
 * does little else than the watched access, no rate is known and nothing is added: the hits that
 * were seen are all that can be promised. A counter tells more: where each hit changed the value by
 * the same amount, the change during a rest gives the number of hits.
 */
#include "lasting/duty.h"
#include "lasting/lasting.h"
#include "base/clock.h"
#include "target/cover.h"

#include "cost/price.h"

#include <stdatomic.h>
#include <time.h>

#define CREDIT_MAX (10 * MILLISECOND)	/* that a slot's hits may cost at a stretch */
#define WINDOW_MIN (500000u)		/* ns of cost: a shorter window is not worth two switches */
#define REST_MAX (2 * SECOND)		/* after which a slot watches as soon as it owes nothing */
#define LOOK_INTERVAL (5 * MILLISECOND) /* between looks at slots that watch */
/* One part in so many of a window's CPU time must be left after its hits; otherwise the rate is not
 * known, since the cost of hits is known no better than to a quarter where others use the CPU's
 * caches. */
#define RESIDUE_PARTS 4
#define STRIDES_MIN 8 /* hits that must agree before a value is taken for a counter */

void duty_start(struct program *program)
{
	program->lasting->duty = program->options.budget < 100;
	if (program->lasting->duty)
		program->lasting->trap_cost = price_of_hit();
}

static uint64_t hits_of(const struct target *target, const struct slot *slot)
{
	return atomic_load(&target->shared->slot[slot->index].hits);
}

/* CPU time that the hits so far took in the handler and on the way to it. */
static uint64_t busy_of(const struct target *target, const struct slot *slot)
{
	return hits_of(target, slot) * target->program->lasting->trap_cost +
	       atomic_load(&target->shared->slot[slot->index].inside);
}

/* What the hits so far cost, in ns: CPU time, and the time that threads waited in the handler. */
static uint64_t cost_of(const struct target *target, const struct slot *slot)
{
	return busy_of(target, slot) + atomic_load(&target->shared->slot[slot->index].waited);
}

static void begin_window(struct target *target, struct slot *slot, uint64_t now)
{
	struct area_slot *shared = &target->shared->slot[slot->index];
	struct duty *duty = &target->duty[slot->index];

	slot->resting = false;
	duty->phase_began = now;
	duty->hits_before = hits_of(target, slot);
	duty->busy_before = busy_of(target, slot);
	duty->cpu_before = clock_read(clock_of_process(target->pid));
	atomic_store(&shared->strides, 0);
	atomic_store(&shared->uneven, 0);
}

void duty_begin(struct target *target, struct slot *slot)
{
	uint64_t now = clock_now();

	target->duty[slot->index] = (struct duty){
		.credit = CREDIT_MAX, .looked = now, .cost_seen = cost_of(target, slot)};
	begin_window(target, slot, now);
}

/* Notes the rate of the window that ends: hits per ns of the process's own CPU time. */
static void note_rate(struct target *target, struct slot *slot)
{
	struct duty *duty = &target->duty[slot->index];
	uint64_t cpu = clock_read(clock_of_process(target->pid)) - duty->cpu_before;
	uint64_t busy = busy_of(target, slot) - duty->busy_before;
	uint64_t hits = hits_of(target, slot) - duty->hits_before;
	uint64_t own = cpu > busy ? cpu - busy : 0;

	duty->unknown = hits && own < cpu / RESIDUE_PARTS;
	duty->rate = own && !duty->unknown ? (double)hits / (double)own : 0;
}

/* Reads the watched value. False: it cannot be read, or has more than 8 bytes, or there is no one
 * value, as of a thread-local variable. */
static bool read_value(struct target *target, const struct slot *slot, uint64_t *value)
{
	*value = 0;
	return !slot->each_thread && target->shared->slot[slot->index].values &&
	       slot->watch.address && slot->watch.length <= sizeof(*value) &&
	       space_read(target->space, slot->watch.address, value, slot->watch.length) ==
		       (ssize_t)slot->watch.length;
}

/* By how much each hit changes the value, where that is a counter of hits; 0: it is none. It is one
 * where every hit of a window, STRIDES_MIN at least, changed it by the same amount. Windows with
 * fewer hits go by what those before have shown, unless they contradict it. */
static uint64_t stride_of(const struct target *target, struct slot *slot)
{
	const struct area_slot *shared = &target->shared->slot[slot->index];
	uint32_t strides = atomic_load(&shared->strides);
	uint64_t stride = atomic_load(&shared->stride);

	if (atomic_load(&shared->uneven) || (strides && target->duty[slot->index].proven != stride))
		target->duty[slot->index].proven = 0;
	if (!atomic_load(&shared->uneven) && strides >= STRIDES_MIN)
		target->duty[slot->index].proven = stride;
	return target->duty[slot->index].proven;
}

void duty_rest(struct target *target, struct slot *slot, uint64_t now)
{
	struct coverage_target coverage = cover_threads(target);
	struct duty *duty = &target->duty[slot->index];

	note_rate(target, slot);
	coverage_disable(&slot->coverage, &coverage);
	duty->stride = read_value(target, slot, &duty->value) ? stride_of(target, slot) : 0;
	slot->resting = true;
	duty->watched += now - duty->phase_began;
	duty->phase_began = clock_now();
	duty->credit -= (int64_t)(duty->phase_began - now);
	duty->cpu_before = clock_read(clock_of_process(target->pid));
}

/* How many hits the slot has missed while it rested: by the change of its value where that is
 * known, else estimated by the program's CPU time meanwhile. */
static double missed(const struct target *target, const struct slot *slot, bool known,
		     uint64_t value, uint64_t cpu)
{
	const struct duty *duty = &target->duty[slot->index];
	unsigned shift = 64 - 8 * slot->watch.length;
	int64_t change, stride;
	double hits;

	if (!duty->stride || !known)
		return duty->rate * (double)(cpu - duty->cpu_before);
	change = (int64_t)((value - duty->value) << shift) >> shift;
	stride = (int64_t)(duty->stride << shift) >> shift;
	hits = stride ? (double)change / (double)stride : 0;
	return hits > 0 ? hits : 0;
}

/* Adds what a slot that rests has missed since this was last called, or since it began to rest.
 * `known`: `value` is what is watched now. */
static void estimate(struct target *target, struct slot *slot, bool known, uint64_t value,
		     uint64_t now)
{
	struct duty *duty = &target->duty[slot->index];
	uint64_t cpu = clock_read(clock_of_process(target->pid));

	duty->rested += now - duty->phase_began;
	duty->phase_began = now;
	if (cpu < duty->cpu_before)
		return;
	duty->estimated += missed(target, slot, known, value, cpu);
	duty->at_least |= (!duty->stride || !known) && duty->unknown;
	duty->cpu_before = cpu;
	duty->value = value;
}

void duty_wake(struct target *target, struct slot *slot, uint64_t now)
{
	struct coverage_target coverage = cover_threads(target);
	struct area_slot *shared = &target->shared->slot[slot->index];
	uint64_t value;
	bool known = read_value(target, slot, &value);

	estimate(target, slot, known, value, now);
	/* Writes during the rest were not seen, so the old value of the next hit is not known. */
	atomic_store(&shared->last_known, 0);
	atomic_fetch_add(&shared->rests, 1);
	coverage_enable(&slot->coverage, &coverage);
	/* The window begins only now: until it was interrupted to be watched, each thread ran
	 * unwatched. */
	begin_window(target, slot, clock_now());
	target->duty[slot->index].credit -= (int64_t)(clock_now() - now);
}

static unsigned armed_slots(const struct target *target)
{
	unsigned count = 0;

	for (unsigned i = 0; i < target->slots; i++)
		count += target->slot[i].armed;
	return count;
}

/* Sets the number of the hit at which the handler rings, because the credit is used up by then. */
static void set_quota(struct target *target, struct slot *slot, uint64_t cost, uint64_t hits)
{
	uint64_t each = hits ? cost / hits : 0, left;

	if (each < target->program->lasting->trap_cost)
		each = target->program->lasting->trap_cost;
	if (!each)
		each = 1;
	left = target->duty[slot->index].credit > 0
		       ? (uint64_t)target->duty[slot->index].credit / each
		       : 0;
	atomic_store(&target->shared->slot[slot->index].quota, (uint32_t)(hits + left + 1));
}

/* Reckons the slot's credit, which grows by `share` of the time that passes, and has it rest or
 * watch again accordingly. */
static void look(struct target *target, struct slot *slot, double share, uint64_t now)
{
	struct duty *duty = &target->duty[slot->index];
	uint64_t cost = cost_of(target, slot);
	int64_t wanted;

	duty->credit +=
		(int64_t)((double)(now - duty->looked) * share) - (int64_t)(cost - duty->cost_seen);
	if (duty->credit > (int64_t)CREDIT_MAX)
		duty->credit = CREDIT_MAX;
	duty->looked = now;
	duty->cost_seen = cost;
	wanted = now - duty->phase_began > REST_MAX ? 0 : (int64_t)WINDOW_MIN;
	if (!slot->resting && duty->credit < 0) {
		duty_rest(target, slot, now);
		count_one(target->program, COUNT_RESTS);
	} else if (slot->resting && duty->credit >= wanted && !duty->framed_until) {
		duty_wake(target, slot, now);
	}
	if (!slot->resting)
		set_quota(target, slot, cost, hits_of(target, slot));
}

void duty_run(struct program *program)
{
	uint64_t now = clock_now();

	if (!program->lasting->duty)
		return;
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = program->target[i];
		unsigned armed = target ? armed_slots(target) : 0;

		for (unsigned j = 0; armed && j < target->slots; j++)
			if (target->slot[j].armed)
				look(target, &target->slot[j],
				     program->options.budget / 100 / armed, now);
	}
}

uint64_t duty_next(const struct program *program)
{
	return program->lasting->duty ? clock_now() + LOOK_INTERVAL : UINT64_MAX;
}

void lasting_estimate(struct program *program, pid_t pid, unsigned index,
		      struct lasting_estimate *result)
{
	struct target *target = target_find(program, pid);
	struct slot *slot = target && index < target->slots ? &target->slot[index] : NULL;
	uint64_t now = clock_now(), value;
	bool known;

	*result = (struct lasting_estimate){0};
	if (!slot || !program->lasting->duty || !slot->armed)
		return;
	known = read_value(target, slot, &value);
	if (slot->resting)
		estimate(target, slot, known, value, now);
	result->hits = (uint64_t)target->duty[slot->index].estimated;
	result->at_least = target->duty[slot->index].at_least;
	result->watched = target->duty[slot->index].watched +
			  (slot->resting ? 0 : now - target->duty[slot->index].phase_began);
	result->rested = target->duty[slot->index].rested;
}
