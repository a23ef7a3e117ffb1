/* SPDX-License-Identifier: Apache-2.0 */
#include "aim/aim.h"

#include "aim/find.h"

#include <stdlib.h>

#define AIM_SITES 512
/* One choice in so many is left to the other ways: they may find an access that has moved. */
#define AIM_PARTS 8
#define LOOK_SOON (100 * MILLISECOND)
#define LOOKS_SOON 20
#define LOOK_LATER (2 * SECOND)

struct aim_site {
	uint64_t pc;
	unsigned aim, side;
	pid_t tid; /* of who was there last; 0: nobody */
};

/* Findings that had a chance in the slot's watch, and a meeting: a bit each. */
struct aim_watch {
	uint64_t chances, meetings;
};

struct aimed {
	struct aim_watch watch[AREA_WATCHES]; /* by slot */
	struct aim_site site[AIM_SITES];
	unsigned used;
	uint64_t modules; /* what was loaded when they were looked for */
	uint64_t next;
	unsigned looks;
};

static struct aim_list *list_of(const struct target *target)
{
	return target->program->options.aims;
}

static bool is_wanted(const struct target *target)
{
	return list_of(target) && list_of(target)->count && !is_off(target, HEURISTIC_AIM);
}

bool aim_is_on(const struct target *target)
{
	return target->explored && target->explored->aimed && target->explored->aimed->used;
}

/* ---- finding the places ------------------------------------------------------------------- */

/* A number that changes when a file is loaded or unloaded. */
static uint64_t modules_now(struct target *target)
{
	struct symbol_modules *modules = space_modules(target->space);
	const struct symbol_module *module;
	uint64_t sum = 1;

	symbol_modules_refresh(modules);
	for (size_t i = 0; (module = symbol_modules_at(modules, i)); i++)
		if (!module->gone)
			sum += module->start * (2 * module->id + 1);
	return sum;
}

static unsigned place_line(const struct aim_side *side)
{
	return finding_place_frame(side->access)->line;
}

static void find_side(struct target *target, struct aimed *aimed, unsigned index, unsigned number)
{
	struct aim *aim = &list_of(target)->aim[index];
	struct aim_side *side = &aim->side[number];
	struct aim_found found;

	aim_find(target, aim, side, &found);
	if (found.how > side->how || (found.how == side->how && found.count > side->instructions)) {
		side->how = found.how;
		side->line = found.line == place_line(side) ? 0 : found.line;
		side->instructions = found.count;
	}
	for (unsigned i = 0; i < found.count; i++) {
		if (aimed->used == AIM_SITES) {
			count_one(target->program, COUNT_AIM_LEFT_OUT);
			return;
		}
		aimed->site[aimed->used++] =
			(struct aim_site){.pc = found.pc[i], .aim = index, .side = number};
	}
}

static void find_all(struct target *target, struct aimed *aimed)
{
	aimed->used = 0;
	count_one(target->program, COUNT_AIM_SEARCHES);
	for (unsigned i = 0; i < list_of(target)->count; i++)
		for (unsigned side = 0; side < AIM_SIDES; side++)
			find_side(target, aimed, i, side);
}

void aim_look(struct target *target, uint64_t now)
{
	struct aimed *aimed = target->explored->aimed;
	uint64_t modules;

	if (!is_wanted(target) || (aimed && now < aimed->next))
		return;
	if (!aimed)
		aimed = target->explored->aimed = calloc(1, sizeof(*aimed));
	if (!aimed)
		return;
	aimed->next = now + (aimed->looks++ < LOOKS_SOON ? LOOK_SOON : LOOK_LATER);
	modules = modules_now(target);
	if (modules == aimed->modules)
		return;
	aimed->modules = modules;
	find_all(target, aimed);
}

void aim_begin(struct target *target, const struct slot *slot)
{
	if (target->explored->aimed)
		target->explored->aimed->watch[slot->index] = (struct aim_watch){0};
}

void aim_end(struct target *target)
{
	free(target->explored->aimed);
	target->explored->aimed = NULL;
}

/* ---- choosing ----------------------------------------------------------------------------- */

static bool is_watched(struct target *target, const struct aim_site *site)
{
	return slot_watching(target, site->pc) != NULL;
}

/* An instruction of the side that was watched least often so far; of equal ones any. */
static struct aim_site *choose(struct target *target, struct aimed *aimed)
{
	struct aim_list *list = list_of(target);
	struct aim_site *best = NULL;
	uint64_t least = UINT64_MAX;
	unsigned equals = 0;

	for (unsigned i = 0; i < aimed->used; i++) {
		struct aim_site *site = &aimed->site[i];
		uint64_t turns = list->aim[site->aim].side[site->side].turns;

		if (turns > least || is_watched(target, site))
			continue;
		equals = turns < least ? 1 : equals + 1;
		least = turns;
		if (random_next(&target->program->random) % equals == 0)
			best = site;
	}
	if (best)
		list->aim[best->aim].side[best->side].turns++;
	return best;
}

uint64_t aim_choose(struct target *target, pid_t *tid)
{
	struct aim_site *site;

	if (!aim_is_on(target) || random_next(&target->program->random) % AIM_PARTS == 0)
		return 0;
	site = choose(target, target->explored->aimed);
	if (!site)
		return 0;
	*tid = site->tid;
	return site->pc;
}

/* The longest window, where every instruction aimed at has a slot of its own. */
uint64_t aim_window(const struct target *target, uint64_t usual, uint64_t most)
{
	return target->explored->aimed->used < target->slots ? most : usual;
}

/* ---- counting ----------------------------------------------------------------------------- */

static bool is_at(const struct target *target, const struct aim_site *site, uint64_t pc)
{
	const struct aim_side *side = &list_of(target)->aim[site->aim].side[site->side];

	if (site->pc == pc)
		return true;
	/* The access of a call is somewhere in the C library. */
	return finding_place_frame(side->access) != side->access->stack.frames &&
	       space_is_libc(target->space, pc);
}

/* The sides of each finding that `pc` is a place of: bit 2i + side. */
struct sides {
	uint64_t side[AIM_SIDES];
};

static struct sides sides_at(const struct target *target, uint64_t pc)
{
	const struct aimed *aimed = target->explored->aimed;
	struct sides sides = {0};

	for (unsigned i = 0; i < aimed->used; i++)
		if (is_at(target, &aimed->site[i], pc))
			sides.side[aimed->site[i].side] |= 1ull << aimed->site[i].aim;
	return sides;
}

/* The findings of which one side is at the first place and the other at the second: a bit each. */
static uint64_t both(const struct target *target, uint64_t first, uint64_t second)
{
	struct sides a = sides_at(target, first), b = sides_at(target, second);

	return (a.side[0] & b.side[1]) | (a.side[1] & b.side[0]);
}

static void count_chances(struct target *target, struct aim_watch *watch, uint64_t aims)
{
	uint64_t first = aims & ~watch->chances;

	watch->chances |= aims;
	for (unsigned i = 0; i < list_of(target)->count; i++)
		list_of(target)->aim[i].score.chances += first >> i & 1;
}

static void count_visit(struct target *target, const struct hit *hit)
{
	struct aimed *aimed = target->explored->aimed;

	for (unsigned i = 0; i < aimed->used; i++) {
		struct aim_site *site = &aimed->site[i];

		if (site->pc != hit->access.pc)
			continue;
		site->tid = hit->access.tid;
		list_of(target)->aim[site->aim].side[site->side].visits++;
	}
}

void aim_visit(struct target *target, const struct slot *slot, const struct hit *hit)
{
	if (!aim_is_on(target) || hit->exit)
		return;
	count_visit(target, hit);
	if ((slot->watch.access & TL_EXEC) || !hit->usable)
		return;
	for (unsigned i = 0; i < slot->hits; i++)
		if (slot->hit[i]->usable && hits_conflict(slot->hit[i], hit))
			count_chances(target, &target->explored->aimed->watch[slot->index],
				      both(target, slot->hit[i]->access.pc, hit->access.pc));
}

void aim_pair(struct target *target, const struct slot *slot, const struct tl_pair *pair)
{
	struct aim_watch *watch;
	uint64_t aims, first;

	if (!aim_is_on(target))
		return;
	watch = &target->explored->aimed->watch[slot->index];
	aims = both(target, pair->first->pc, pair->second->pc);
	list_of(target)->current = aims;
	count_chances(target, watch, aims);
	first = aims & ~watch->meetings;
	watch->meetings |= aims;
	for (unsigned i = 0; i < list_of(target)->count; i++)
		list_of(target)->aim[i].score.meetings += first >> i & 1;
}

void aim_told(struct target *target)
{
	if (list_of(target))
		list_of(target)->current = 0;
}
