/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which hits are shown. Most is decided inside the program by the handler (record/filter.h); what
 * it cannot know is decided here: functions that were inlined, processes it is not loaded in.
 * Places whose hits have been understood once are taught to it, and what it counts there is
 * collected.
 */
#include "watch/filter.h"

#include "base/glob.h"
#include "control/control.h"
#include "lasting/lasting.h"
#include "symbol/lookup.h"
#include "watch/piece.h"
#include "watch/state.h"
#include "watch/wanted.h"
#include "watch/watched.h"

#include <stdatomic.h>
#include <string.h>

void filter_begin(struct watch *watch)
{
	const struct watch_options *options = &watch->options;
	struct filter *filter = lasting_filter(watch->program);

	filter->on = true;
	/* A file of hits holds every hit, so its hits are not merely counted. */
	filter->count_only = (options->action == WATCH_COUNT || options->top) && !options->deliver;
	filter->callers = options->not_from != NULL;
	filter->refresh = options->top != NULL;
	filter->not_before = watch->started + options->after;
	filter->every = options->every;
	filter->first = options->first;
	filter->condition = options->condition;
	if (options->thread)
		strncpy(filter->thread, options->thread, sizeof(filter->thread) - 1);
}

void filter_process_begin(struct watch *watch, struct watched *process)
{
	struct filter_process *filter = lasting_filter_process(watch->program, process->pid);
	struct space *space = control_space(watch->control, process->pid);
	char error[SYMBOL_ERROR_MAX];
	struct symbol_found found;
	uint64_t start, end;

	if (!filter || !space || !watch->options.not_from ||
	    symbol_lookup(space_modules(space), NULL, watch->options.not_from, &found, error) ||
	    !found.function || space_function(space, found.address, &start, &end))
		return;
	filter->caller[0] = (struct filter_range){start, end};
}

void filter_slot_begin(struct watch *watch, const struct watched *process, unsigned slot)
{
	const struct watch_options *options = &watch->options;
	const struct piece *piece = &process->piece[slot];
	const struct wanted *wanted = &watch->wanted[piece->wanted];
	struct space *space = control_space(watch->control, process->pid);
	struct lasting_judging judging = {
		.values = !(wanted->access & SYMBOL_ACCESS_EXECUTE) &&
			  (options->action != WATCH_COUNT || options->sampled || options->deliver ||
			   condition_uses_values(&options->condition)),
		/* x86 can only trap on reads and writes together, so where reads alone are asked
		 * for, handlers cannot be certain that a hit is wanted. */
		.certain = wanted->access != SYMBOL_ACCESS_READ && !options->not_from,
		.is_signed = wanted->is_signed};

	if (judging.values && space && !piece->each_thread)
		judging.known = space_read(space, piece->address, &judging.value, piece->length) ==
				(ssize_t)piece->length;
	lasting_judge(watch->program, process->pid, slot, &judging);
}

/* Was such an access asked for? One of unknown kind counts as asked for. */
static bool is_wanted(const struct wanted *wanted, unsigned access)
{
	unsigned asked = (wanted->access & SYMBOL_ACCESS_READ ? TL_READ : 0) |
			 (wanted->access & SYMBOL_ACCESS_WRITE ? TL_WRITE : 0) |
			 (wanted->access & SYMBOL_ACCESS_EXECUTE ? TL_EXEC : 0);
	unsigned made = access & (TL_READ | TL_WRITE | TL_EXEC);

	return !made || (made & asked);
}

static bool is_from(const struct finding_access *access, const char *function)
{
	for (size_t i = 0; i < access->stack.count; i++)
		if (access->stack.frames[i].function &&
		    strcmp(access->stack.frames[i].function, function) == 0)
			return true;
	return false;
}

/* Judges what a handler judges where it can: time, thread and values. */
static enum filter_refusal judge(const struct watch *watch, const struct finding_access *access,
				 const struct wanted *wanted, const struct trace *trace)
{
	const struct watch_options *options = &watch->options;
	struct condition_values values = {access->before_known, access->after_known,
					  wanted->is_signed, access->before, access->after};

	if (trace->access->time < watch->started + options->after)
		return FILTER_EARLY;
	if (options->thread && *trace->thread && !glob_match(options->thread, trace->thread))
		return FILTER_THREAD;
	return condition_holds(&options->condition, &values) ? FILTER_REFUSALS : FILTER_VALUES;
}

enum filter_refusal filter_judge(struct watch *watch, const struct finding *finding,
				 const struct wanted *wanted, const struct trace *trace)
{
	const struct finding_access *access = &finding->accesses[0];
	enum filter_refusal refused = FILTER_REFUSALS;

	if (!is_wanted(wanted, trace->access->access))
		refused = FILTER_KIND;
	else if (!trace->judged)
		refused = judge(watch, access, wanted, trace);
	if (refused == FILTER_REFUSALS && watch->options.not_from &&
	    is_from(access, watch->options.not_from))
		refused = FILTER_CALLER;
	if (refused != FILTER_REFUSALS)
		watch->refused_hits[refused]++;
	return refused;
}

uint64_t filter_number(struct watch *watch, const struct trace *trace)
{
	return trace->number ? trace->number
			     : atomic_fetch_add(&lasting_filter(watch->program)->matched, 1) + 1;
}

/*
 * A place may be taught to handlers if every hit with that pc is the same: the instruction before
 * the pc was seen, not guessed, to have made the access, and its own function is the one that is
 * named, not one inlined into it.
 */
static bool is_plain(const struct finding *finding, const struct trace *trace)
{
	const struct finding_access *access = &finding->accesses[0];
	const struct finding_frame *frame = finding_place_frame(access);

	return trace->understood && !trace->late && trace->judged &&
	       !(trace->access->access & (TL_GUESSED | TL_KERNEL)) && frame &&
	       (trace->access->access & TL_EXEC ||
		(trace->access->pc < trace->trap_pc && trace->trap_pc - trace->access->pc <= 15)) &&
	       frame == &access->stack.frames[0];
}

void filter_teach(struct watch *watch, struct watched *process, const struct finding *finding,
		  const struct trace *trace, enum filter_refusal refused, int place)
{
	struct filter_process *filter = lasting_filter_process(watch->program, process->pid);
	bool wanted = refused == FILTER_REFUSALS;
	int index;

	/* With --not-from the callers decide, and they differ from hit to hit at one place. */
	if (!filter || !is_plain(finding, trace) || (wanted && watch->options.not_from) ||
	    (wanted ? place < 0 : refused != FILTER_KIND))
		return;
	index = filter_place_teach(filter, trace->trap_pc, trace->slot, !wanted);
	if (index >= 0)
		process->taught[index] =
			(struct taught){true, (int)trace->slot, wanted ? place : -1};
}

void filter_collect(struct watch *watch, struct watched *process, int slot)
{
	struct filter_process *filter = lasting_filter_process(watch->program, process->pid);

	for (unsigned i = 0; filter && i < FILTER_PLACES; i++) {
		struct filter_place *place = &filter->place[i];
		uint64_t count;

		if (!process->taught[i].known || !atomic_load(&place->key) ||
		    (slot >= 0 && process->taught[i].slot != slot))
			continue;
		/* The slot is about to watch something else, so its places are given up. A handler
		 * that has found a place just before may still add to it: the counts by place lose
		 * that hit. */
		if (slot >= 0)
			atomic_store(&place->key, 0);
		count = atomic_exchange(&place->count, 0);
		if (process->taught[i].place < 0 || !count)
			continue;
		watch->place[process->taught[i].place].count += count;
		watch->wanted[watch->place[process->taught[i].place].wanted].shown += count;
	}
}

void filter_refresh(struct watch *watch, struct watched *process)
{
	struct filter_process *filter = lasting_filter_process(watch->program, process->pid);

	filter_collect(watch, process, -1);
	for (unsigned i = 0; filter && i < FILTER_PLACES; i++)
		atomic_store(&filter->place[i].sent, 0);
}

void filter_estimate(struct watch *watch, const struct watched *process, unsigned slot)
{
	struct lasting_estimate *sum = &watch->wanted[process->piece[slot].wanted].estimate, part;

	lasting_estimate(watch->program, process->pid, slot, &part);
	sum->hits += part.hits;
	sum->at_least |= part.at_least;
	sum->watched += part.watched;
	sum->rested += part.rested;
}

void filter_process_end(struct watch *watch, struct watched *process)
{
	struct filter_process *filter = lasting_filter_process(watch->program, process->pid);

	filter_collect(watch, process, -1);
	for (unsigned i = 0; filter && i < FILTER_REFUSALS; i++)
		watch->refused_hits[i] += atomic_load(&filter->refused[i]);
	watch->unsent += lasting_unsent(watch->program, process->pid);
}

void filter_print(const struct watch *watch)
{
	static const char *const names[] = {
		[FILTER_EARLY] = "before --after",
		[FILTER_KIND] = "of the other kind (the processor cannot tell reads from writes)",
		[FILTER_THREAD] = "by --thread",
		[FILTER_VALUES] = "by --if",
		[FILTER_CALLER] = "by --not-from",
	};
	FILE *to = watch->options.lines;

	for (unsigned i = 0; i < FILTER_REFUSALS; i++)
		if (watch->refused_hits[i])
			fprintf(to, "trapline: %llu hits left out %s\n",
				(unsigned long long)watch->refused_hits[i], names[i]);
	if (watch->unsent && watch->options.action != WATCH_COUNT)
		fprintf(to,
			"trapline: %llu hits are counted and have no line: they came faster than "
			"they could be noted\n",
			(unsigned long long)watch->unsent);
}
