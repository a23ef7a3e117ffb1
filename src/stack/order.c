/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/order.h"

#include "process/stub.h"

#include <string.h>

#define STEPS 96    /* of one function, which are put in order */
#define VISITED 256 /* functions, in all */
#define DEEP 24	    /* calls */
#define AHEAD 32    /* items that are found, of which those are taken that were met least */

/* A site or a call in a function's code. */
struct step {
	uint32_t at;
	struct site *site;
	uint64_t target;
};

struct walk {
	struct functions *functions;
	struct space *space;
	const struct code *visited[VISITED];
	unsigned visits;
	struct order_item ahead[AHEAD];
	unsigned found;
};

static uint32_t met(const struct order_item *item)
{
	return item->site ? item->site->met : item->victim->met;
}

static void add(struct walk *walk, struct order_item item)
{
	for (unsigned i = 0; i < walk->found; i++)
		if (walk->ahead[i].site == item.site && walk->ahead[i].victim == item.victim)
			return;
	if (walk->found < AHEAD)
		walk->ahead[walk->found++] = item;
}

static bool is_first_visit(struct walk *walk, const struct code *code)
{
	for (unsigned i = 0; i < walk->visits; i++)
		if (walk->visited[i] == code)
			return false;
	if (walk->visits >= VISITED)
		return false;
	walk->visited[walk->visits++] = code;
	return true;
}

static void add_victim(struct walk *walk, const struct code *code)
{
	unsigned count;
	struct victim *victim = functions_victims(walk->functions, &count);

	for (unsigned i = 0; i < count; i++)
		if (victim[i].code == code)
			add(walk, (struct order_item){.victim = &victim[i]});
}

static void insert(struct step *steps, unsigned *count, struct step step)
{
	unsigned at = *count;

	if (*count == STEPS)
		return;
	for (; at > 0 && steps[at - 1].at > step.at; at--)
		steps[at] = steps[at - 1];
	steps[at] = step;
	++*count;
}

/* Lists the steps in the bytes [from, to) of its code, in order. */
static unsigned steps_of(struct walk *walk, const struct code *code, uint32_t from, uint32_t to,
			 struct step *steps)
{
	unsigned sites, count = 0;
	struct site *site = functions_sites(walk->functions, &sites);

	for (unsigned i = 0; i < code->names; i++)
		if (code->name_at[i] >= from && code->name_at[i] < to)
			insert(steps, &count, (struct step){code->name_at[i], NULL, code->name[i]});
	for (unsigned i = 0; i < code->indirects; i++) {
		const struct code_indirect *call = &code->indirect[i];
		uint64_t target;

		if (call->pointer && call->at >= from && call->at < to &&
		    space_read(walk->space, call->pointer, &target, sizeof(target)) ==
			    sizeof(target))
			insert(steps, &count, (struct step){call->at, NULL, target});
	}
	for (unsigned i = 0; i < sites; i++) {
		uint64_t at = site[i].pc - code->start;

		if (at >= from && at < to && at < code->end - code->start)
			insert(steps, &count, (struct step){(uint32_t)at, &site[i], 0});
	}
	return count;
}

static void follow(struct walk *walk, const struct code *code, uint32_t from, uint32_t to,
		   unsigned deep)
{
	struct step steps[STEPS];
	unsigned count = steps_of(walk, code, from, to, steps);

	for (unsigned i = 0; i < count && walk->found < AHEAD; i++) {
		const struct code *called;

		if (steps[i].site) {
			add(walk, (struct order_item){.site = steps[i].site});
			continue;
		}
		called =
			functions_known(walk->functions, stub_target(walk->space, steps[i].target));
		if (!called || deep >= DEEP || !is_first_visit(walk, called))
			continue;
		add_victim(walk, called);
		follow(walk, called, 0, UINT32_MAX, deep + 1);
	}
}

/* Adds what lies ahead of each frame's place or, with `behind`, what lies before it, where loops
 * come again. */
static void follow_frames(struct walk *walk, const uint64_t *pcs, unsigned count, bool behind)
{
	for (unsigned i = 0; i < count && walk->found < AHEAD; i++) {
		/* A call may be the last instruction of its function. */
		uint64_t inside = i ? pcs[i] - 1 : pcs[i], start, end;
		const struct code *code;
		uint32_t at;

		if (space_whole_function(walk->space, inside, &start, &end))
			continue;
		code = functions_known(walk->functions, start);
		if (!code)
			continue;
		at = (uint32_t)(pcs[i] - start);
		if (!at && is_first_visit(walk, code))
			add_victim(walk, code);
		follow(walk, code, behind ? 0 : at, behind ? at : UINT32_MAX, 0);
	}
}

static unsigned take_least_met(struct walk *walk, struct order_item *to, unsigned max)
{
	unsigned taken = 0;

	while (taken < max && walk->found) {
		unsigned least = 0;

		for (unsigned i = 1; i < walk->found; i++)
			if (met(&walk->ahead[i]) < met(&walk->ahead[least]))
				least = i;
		to[taken++] = walk->ahead[least];
		memmove(&walk->ahead[least], &walk->ahead[least + 1],
			(--walk->found - least) * sizeof(walk->ahead[0]));
	}
	return taken;
}

unsigned order_next(struct functions *functions, struct space *space, const uint64_t *pcs,
		    unsigned count, struct order_item *to, unsigned max)
{
	struct walk walk = {.functions = functions, .space = space};
	unsigned victims;
	struct victim *victim = functions_victims(functions, &victims);

	follow_frames(&walk, pcs, count, false);
	follow_frames(&walk, pcs, count, true);
	/* Functions that are only called through pointers. */
	for (unsigned i = 0; i < victims && walk.found < AHEAD; i++)
		if (!victim[i].met)
			add(&walk, (struct order_item){.victim = &victim[i]});
	return take_least_met(&walk, to, max);
}
