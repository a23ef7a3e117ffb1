/* SPDX-License-Identifier: Apache-2.0 */
#include "team/team.h"

#include "base/clock.h"
#include "process/stat_file.h"
#include "team/places.h"
#include "team/runtime.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 48   /* hits at entry points; from then on the slots are for the other ways */
#define VAIN_MOST 8 /* watches of entry points in a row by which nobody came */
/* Holds of all processes together, for each percent of the budget: so many ns are lent at the
 * start, and a quarter of what the budget earns may go to them. */
#define LENT (20 * MILLISECOND)
#define BUDGET_PARTS 4
#define TOUR 4096 /* instructions looked ahead of one thread */
#define ENTRY_WINDOW (100 * MILLISECOND)
#define ENTRY_HOLD (2 * MILLISECOND) /* released as soon as the function is watched */
#define FUNCTION_WINDOW (60 * MILLISECOND)
#define FUNCTION_HOLD (4 * MILLISECOND) /* released as soon as another has come */
#define VIEWS 4 /* threads that are waited for before a function, while no two conflict */
/* A watch ends with its last hit, before that is looked at: so it may take one more than the one
 * hit that is waited for. */
#define ENTRY_HITS 2
#define FUNCTION_HITS (VIEWS + 1)
#define ALONE (3 * MILLISECOND / 2) /* before a function, after which nobody is waited for */
#define PLACE_WINDOW (15 * MILLISECOND)
#define PLACE_HOLD (2 * MILLISECOND) /* another walks to the place meanwhile */
#define PLACE_HITS 8
#define PLACES_MOST 64
#define TRIED 16 /* places, remembered */

enum role { ROLE_NONE, ROLE_ENTRY, ROLE_FUNCTION, ROLE_PLACE };

/* What a slot is for. */
struct team_watch {
	enum role role;
	unsigned argument; /* of ROLE_ENTRY: which one is the function */
};

struct team {
	struct team_watch watch[AREA_WATCHES]; /* by slot */
	struct team_entry entry[TEAM_ENTRIES];
	unsigned entries, turn;
	unsigned rounds, vain;
	uint64_t last; /* entry point that was come by */
	bool arming;   /* slot_arm() is under way */
	struct ahead_view view[VIEWS];
	pid_t waiting[VIEWS]; /* before a function: whose views these are, … */
	unsigned views;
	const struct slot *held; /* … the first of them by this slot */
	uint64_t tried[TRIED];
	unsigned tries;
};

static struct team *team_of(const struct target *target)
{
	return target->explored->team;
}

static bool has_role(const struct target *target, const struct slot *slot, enum role role)
{
	const struct team *team = team_of(target);

	return (team ? team->watch[slot->index].role : ROLE_NONE) == role;
}

static bool is_lent_out(const struct target *target)
{
	const struct program *program = target->program;
	double earned = (double)(clock_now() - program->started) / 100 / BUDGET_PARTS;

	return (double)explorer_of(target)->team_loan->lent >
	       ((double)LENT + earned) * program->options.budget;
}

static bool is_over(const struct target *target)
{
	const struct team *team = team_of(target);

	return !team || team->rounds >= ROUNDS || team->vain >= VAIN_MOST || is_lent_out(target) ||
	       target->transient.on || target->debugged;
}

static int arm(struct target *target, struct slot *slot, enum role role,
	       const struct team_place *place, unsigned access, unsigned hits)
{
	static const struct {
		uint64_t hold, window;
	} times[] = {
		[ROLE_ENTRY] = {ENTRY_HOLD, ENTRY_WINDOW},
		[ROLE_FUNCTION] = {FUNCTION_HOLD, FUNCTION_WINDOW},
		[ROLE_PLACE] = {PLACE_HOLD, PLACE_WINDOW},
	};
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = target->pid,
				 .address = place->address,
				 .length = place->length,
				 .access = access,
				 .hits = hits,
				 .hold = times[role].hold,
				 .window = times[role].window};
	int err;

	team_of(target)->arming = true;
	err = slot_arm(target, slot, &watch);
	team_of(target)->arming = false;
	if (err)
		return err;
	team_of(target)->watch[slot->index].role = role;
	choice_of(target, slot)->heuristic = HEURISTIC_TEAM;
	return 0;
}

void team_begin(struct target *target)
{
	const struct control_options *options = &target->program->options;
	struct team_entry entry[TEAM_ENTRIES];
	unsigned entries;

	if (is_off(target, HEURISTIC_TEAM) || options->loan == 0 || options->start_delay ||
	    target->slots < 2)
		return;
	entries = team_entries(target->space, target->pid, entry);
	if (!entries || !(target->explored->team = calloc(1, sizeof(struct team))))
		return;
	memcpy(team_of(target)->entry, entry, sizeof(entry));
	team_of(target)->entries = entries;
	for (unsigned i = 0; i < target->slots && i < entries; i++)
		team_arm(target, &target->slot[i]);
}

void team_end(struct target *target)
{
	free(target->explored->team);
	target->explored->team = NULL;
}

/* Entry points are not armed in the last free slot: it is for the function that one tells of. */
static bool may_arm(const struct target *target)
{
	unsigned entries = 0;

	for (unsigned i = 0; i < target->slots; i++)
		entries += target->slot[i].armed && has_role(target, &target->slot[i], ROLE_ENTRY);
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
		    arm(target, slot, ROLE_ENTRY, &(struct team_place){entry->address, 8}, TL_EXEC,
			ENTRY_HITS))
			continue;
		team->watch[slot->index].argument = entry->argument;
		team->vain++;
		return true;
	}
	return false;
}

bool team_has(const struct target *target, const struct slot *slot)
{
	return !has_role(target, slot, ROLE_NONE);
}

bool team_publish(struct target *target, struct slot *slot)
{
	struct team *team = team_of(target);

	if (!team)
		return false;
	team->watch[slot->index] = (struct team_watch){ROLE_NONE, 0};
	if (!team->arming)
		return false;
	target->shared->slot[slot->index].answered = AREA_ANSWER_LENT;
	return true;
}

/* May the slot be taken for a place, or for a function? Also one on the entry point that a thread
 * came by last: the next is not expected there soon. */
static bool is_to_spare(const struct target *target, const struct slot *slot)
{
	return !team_has(target, slot) ||
	       (has_role(target, slot, ROLE_ENTRY) && slot->watch.address == team_of(target)->last);
}

/* One that is silent, or can be spared. NULL: there is none. */
static struct slot *free_slot(struct target *target)
{
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < target->slots; i++) {
			struct slot *slot = &target->slot[i];

			if (hits_are_held(slot) ||
			    (slot->armed && (!pass || !is_to_spare(target, slot))))
				continue;
			if (slot->armed)
				explorer_of(target)->events->unwatched(target, slot);
			slot_disarm(target, slot);
			hits_forget_slot(explorer_of(target)->hits, slot);
			choice_of(target, slot)->probed_until = 0; /* its hit is gone */
			return slot;
		}
	return NULL;
}

/* ---- entry points ------------------------------------------------------------------------- */

static void came_by_entry(struct target *target, struct slot *slot, const struct hit *hit)
{
	struct team *team = team_of(target);
	unsigned number = insn_arch.function_argument[team->watch[slot->index].argument];
	uint64_t function = hit->stack.registers.general[number];
	struct slot *other = NULL;

	team->rounds++;
	team->vain = 0;
	team->last = slot->watch.address;
	count_one(target->program, COUNT_TEAMS);
	if (!slot_watching(target, function) && space_module(target->space, function) &&
	    (other = free_slot(target)))
		arm(target, other, ROLE_FUNCTION, &(struct team_place){function, 8}, TL_EXEC,
		    FUNCTION_HITS);
	/* free_slot() may have taken the slot of this entry point. */
	if (other != slot)
		slot_disarm(target, slot);
}

/* ---- functions ---------------------------------------------------------------------------- */

static void look(struct target *target, const struct hit *hit, struct ahead_view *view)
{
	struct insn_registers registers = hit_registers(&hit->stack.registers);

	ahead_tour(target->space, &registers, TOUR, view);
	team_sift(target->space, registers.pc, view);
	count_one(target->program, COUNT_LOOKS_AHEAD);
}

static bool was_tried(const struct team *team, uint64_t address)
{
	for (unsigned i = 0; i < TRIED; i++)
		if (team->tried[i] == address)
			return true;
	return false;
}

static void watch_place(struct target *target, struct slot *slot, const struct team_place *place)
{
	struct team *team = team_of(target);

	team->tried[team->tries++ % TRIED] = place->address;
	if (!arm(target, slot, ROLE_PLACE, place, TL_READ | TL_WRITE, PLACE_HITS))
		count_one(target->program, COUNT_TEAM_PLACES);
}

/* Watches the places that were not tried lately first, of equals any, as far as slots go. */
static void watch_places(struct target *target, const struct team_place *places, unsigned count)
{
	unsigned from = count ? (unsigned)(random_next(&target->program->random) % count) : 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < count; i++) {
			const struct team_place *place = &places[(from + i) % count];
			struct slot *slot;

			if (slot_watching(target, place->address) ||
			    (!pass && was_tried(team_of(target), place->address)))
				continue;
			slot = free_slot(target);
			if (!slot)
				return;
			watch_place(target, slot, place);
		}
}

/* Watches these places, and lets all threads go that wait before a function. */
static void go_on(struct target *target, const struct team_place *places, unsigned count)
{
	struct slot *slot = target->slot;

	team_of(target)->views = 0;
	for (unsigned i = 0; i < target->slots; i++)
		if (has_role(target, &slot[i], ROLE_FUNCTION))
			slot_silence(target, &slot[i]);
	watch_places(target, places, count);
	for (unsigned i = 0; i < target->slots; i++)
		if (has_role(target, &slot[i], ROLE_FUNCTION))
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
 * A thread waits before a function. Each that waits, also before different functions, as of tasks,
 * is looked ahead from and compared with those before: up to VIEWS of them, since the parts of the
 * first two may not touch, or neither may be the thread that conflicts with all others.
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
	if (has_role(target, slot, ROLE_ENTRY))
		came_by_entry(target, slot, hit);
	else
		came_to_function(target, slot, hit);
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
	if (team_of(target) && team_has(target, slot) && hit->exit > hit->entry)
		explorer_of(target)->team_loan->lent += hit->exit - hit->entry;
}
