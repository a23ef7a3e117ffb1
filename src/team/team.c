/* SPDX-License-Identifier: Apache-2.0 */
#include "team/team.h"

#include "base/clock.h"
#include "process/stat_file.h"
#include "team/births.h"
#include "team/runtime.h"
#include "team/watches.h"

#include <stdlib.h>
#include <string.h>

/* Hits at entry points, after which the slots are left to the other ways of choosing. */
#define ROUNDS 48
/* Watches of entry points in a row without a hit, after which the slots are left as well. */
#define VAIN_MOST 8
/* Threads that are made to wait before a function at most, while no two of them conflict. */
#define VIEWS 4
/* A watch ends with its last hit before the controller has looked at that hit, so one more is
 * allowed than the one that is waited for. */
#define ENTRY_HITS 2
#define FUNCTION_HITS (VIEWS + 1)
#define PLACE_HITS 8
/* Ns that a thread waits before a function, after which no other is waited for. */
#define ALONE (3 * MILLISECOND / 2)
struct team {
	struct team_entry entry[TEAM_ENTRIES];
	unsigned entries, turn;
	unsigned rounds, vain;
	struct ahead_view view[VIEWS];
	/* The threads that wait before a function, whose views these are, … */
	pid_t waiting[VIEWS];
	unsigned views;
	const struct slot *held; /* … and the slot that holds the first of them */
};

static struct team *team_of(const struct target *target)
{
	return target->explored->team;
}

static bool is_over(const struct target *target)
{
	const struct team *team = team_of(target);

	return !team || team->rounds >= ROUNDS || team->vain >= VAIN_MOST || !team_may_hold(target);
}

void team_begin(struct target *target)
{
	const struct control_options *options = &target->program->options;
	struct team_entry entry[TEAM_ENTRIES];
	unsigned entries;

	if (options->loan == 0 || options->start_delay || target->slots < 2)
		return;
	births_begin(target);
	if (is_off(target, HEURISTIC_TEAM))
		return;
	entries = team_entries(target->space, target->pid, entry);
	if (!entries || !team_watches_begin(target) ||
	    !(target->explored->team = calloc(1, sizeof(struct team))))
		return;
	memcpy(team_of(target)->entry, entry, sizeof(entry));
	team_of(target)->entries = entries;
	for (unsigned i = 0; i < target->slots && i < entries; i++)
		team_arm(target, &target->slot[i]);
}

void team_end(struct target *target)
{
	births_end(target);
	free(target->explored->team);
	target->explored->team = NULL;
	team_watches_end(target);
}

/* May an entry point be armed? Not in the last free slot, which is for the function that a hit at
 * an entry point tells of. */
static bool may_arm(const struct target *target)
{
	unsigned entries = 0;

	for (unsigned i = 0; i < target->slots; i++)
		entries += target->slot[i].armed &&
			   team_has_role(target, &target->slot[i], ROLE_ENTRY);
	return !is_over(target) && entries + 1 < target->slots;
}

bool team_arm(struct target *target, struct slot *slot)
{
	struct team *team = team_of(target);

	if (!may_arm(target))
		return false;
	for (unsigned i = 0; i < team->entries; i++) {
		const struct team_entry *entry = &team->entry[team->turn++ % team->entries];

		if (slot_watching(target, entry->address) ||
		    team_watch_for(target, slot, ROLE_ENTRY, HEURISTIC_TEAM,
				   &(struct team_place){entry->address, 8}, ENTRY_HITS))
			continue;
		team_watches_of(target)->watch[slot->index].argument = entry->argument;
		team->vain++;
		return true;
	}
	return false;
}

bool team_has(const struct target *target, const struct slot *slot)
{
	return !team_has_role(target, slot, ROLE_NONE);
}

bool team_publish(struct target *target, struct slot *slot)
{
	struct team_watches *watches = team_watches_of(target);

	if (!watches)
		return false;
	watches->watch[slot->index] = (struct team_watch){ROLE_NONE, 0};
	if (!watches->arming)
		return false;
	target->shared->slot[slot->index].answered = AREA_ANSWER_LENT;
	return true;
}

/* ---- entry points ------------------------------------------------------------------------- */

static void came_by_entry(struct target *target, struct slot *slot, const struct hit *hit)
{
	struct team *team = team_of(target);
	unsigned number =
		insn_arch.function_argument[team_watches_of(target)->watch[slot->index].argument];
	uint64_t function = hit->stack.registers.general[number];
	struct slot *other = NULL;

	team->rounds++;
	team->vain = 0;
	team_watches_of(target)->last = slot->watch.address;
	count_one(target->program, COUNT_TEAMS);
	if (!slot_watching(target, function) && space_module(target->space, function) &&
	    (other = team_free_slot(target)))
		team_watch_for(target, other, ROLE_FUNCTION, HEURISTIC_TEAM,
			       &(struct team_place){function, 8}, FUNCTION_HITS);
	/* team_free_slot() may have taken the slot of this entry point. */
	if (other != slot)
		slot_disarm(target, slot);
}

/* ---- functions ---------------------------------------------------------------------------- */

static void look(struct target *target, const struct hit *hit, struct ahead_view *view)
{
	const struct ahead_start from = {.registers = hit_registers(&hit->stack.registers),
					 .known = AHEAD_ALL_KNOWN};

	ahead_tour(target->space, &from, TOUR, view);
	team_sift(target->space, from.registers.pc, view);
	count_one(target->program, COUNT_LOOKS_AHEAD);
}

/* Watches these places, and lets all threads go that wait before a function. */
static void go_on(struct target *target, const struct team_place *places, unsigned count)
{
	struct slot *slot = target->slot;

	team_of(target)->views = 0;
	for (unsigned i = 0; i < target->slots; i++)
		if (team_has_role(target, &slot[i], ROLE_FUNCTION))
			slot_silence(target, &slot[i]);
	team_watch_places(target, HEURISTIC_TEAM, PLACE_HITS, places, count);
	for (unsigned i = 0; i < target->slots; i++)
		if (team_has_role(target, &slot[i], ROLE_FUNCTION))
			slot_release(target, &slot[i]);
}

static bool waits(const struct team *team, pid_t tid)
{
	for (unsigned i = 0; i < team->views; i++)
		if (team->waiting[i] == tid)
			return true;
	return false;
}

static bool all_wait(const struct target *target)
{
	return stat_file_number(target->pid, 0, STAT_NUM_THREADS) <= team_of(target)->views;
}

/*
 * A thread has come to wait before a function. Look-ahead is made from each waiting thread, also
 * before different functions (tasks are such), and compared with those before. Up to VIEWS threads
 * wait: the parts of the first two may not touch, or neither of them may be the one that conflicts
 * with all others.
 */
static void came_to_function(struct target *target, struct slot *slot, const struct hit *hit)
{
	struct team *team = team_of(target);
	struct team_place places[PLACES_MOST];
	unsigned count = 0;

	if (waits(team, hit->access.tid))
		team->views = 0;
	if (!team->views) {
		team->held = slot;
		slot->deadline = hit->entry + ALONE;
	}
	look(target, hit, &team->view[team->views]);
	for (unsigned i = 0; i < team->views && !count; i++)
		count = team_places(&team->view[i], &team->view[team->views], places, PLACES_MOST);
	team->waiting[team->views++] = hit->access.tid;
	if (count || team->views == VIEWS || (team->views > 1 && all_wait(target)))
		go_on(target, places, count);
}

void team_came(struct target *target, struct slot *slot, struct hit *hit)
{
	if (!team_of(target))
		return;
	if (team_has_role(target, slot, ROLE_ENTRY))
		came_by_entry(target, slot, hit);
	else
		came_to_function(target, slot, hit);
}

void team_met(struct target *target, struct slot *slot, const struct hit *hit)
{
	if (!team_has_role(target, slot, ROLE_PLACE))
		return;
	for (unsigned i = 0; i < slot->hits; i++)
		if (!slot->hit[i]->exit && slot->hit[i]->access.identity != hit->access.identity) {
			slot_release(target, slot);
			return;
		}
}

void team_run(struct target *target, const struct slot *slot, uint64_t now)
{
	struct team *team = team_of(target);
	struct team_place places[PLACES_MOST];

	if (team && team->views && team->held == slot && now >= slot->deadline)
		go_on(target, places,
		      team->views == 1 ? team_writes(&team->view[0], places, PLACES_MOST) : 0);
}

void team_held(struct target *target, const struct slot *slot, const struct hit *hit)
{
	if (team_has(target, slot) && hit->exit > hit->entry)
		team_lend(target, hit->exit - hit->entry);
}
