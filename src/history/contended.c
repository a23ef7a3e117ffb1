/* SPDX-License-Identifier: Apache-2.0 */
#include "history/contended.h"

#include <stddef.h>

static struct contended_site *find(struct contended *contended, uint64_t pc)
{
	for (unsigned i = 0; i < contended->used; i++)
		if (contended->site[i].pc == pc)
			return &contended->site[i];
	return NULL;
}

/* A free place, or one to replace: a site where another thread was seen is worth more than one
 * where it was only foreseen. */
static struct contended_site *replaced(struct contended *contended, struct random *random)
{
	struct contended_site *site;

	if (contended->used < CONTENDED_MAX)
		return &contended->site[contended->used++];
	for (int i = 0; i < CONTENDED_DRAWS; i++) {
		site = &contended->site[random_next(random) % CONTENDED_MAX];
		if (!site->seen)
			break;
	}
	return site;
}

static struct contended_site *find_or_add(struct contended *contended, struct random *random,
					  uint64_t pc, pid_t tid)
{
	struct contended_site *site = find(contended, pc);

	if (!site) {
		site = replaced(contended, random);
		*site = (struct contended_site){.pc = pc};
	}
	site->tid = tid;
	return site;
}

struct contended_site *contended_note(struct contended *contended, struct random *random,
				      uint64_t pc, pid_t tid)
{
	struct contended_site *site = find_or_add(contended, random, pc, tid);

	site->seen = true;
	return site;
}

void contended_change(struct contended *contended, struct random *random, uint64_t pc, pid_t tid)
{
	contended_note(contended, random, pc, tid)->changes++;
}

/* Was a thread seen to hit the site? Look-ahead also follows paths that no thread ever takes. */
static bool came(const struct contended *contended, uint64_t pc)
{
	for (unsigned i = 0; i < contended->used; i++)
		if (contended->site[i].pc == pc)
			return contended->site[i].came;
	return false;
}

void contended_foresee(struct contended *contended, struct random *random, uint64_t pc, pid_t tid,
		       uint64_t other)
{
	struct contended_site *site = find_or_add(contended, random, pc, tid);

	if (!site->conflict || !came(contended, site->conflict))
		site->conflict = other;
}

void contended_tell(struct contended *contended, uint64_t pc, unsigned held, bool come)
{
	struct contended_site *site = find(contended, pc);

	if (!site)
		return;
	site->holds += held;
	site->came |= come;
	site->vain = come ? 0 : site->vain + 1;
}

bool contended_is_met(const struct contended *contended, const struct contended_site *site)
{
	return site->conflict && came(contended, site->conflict);
}

/* What a foreseen conflict adds to a site's worth. Of two instructions that conflict, one that no
 * thread was seen to hit is watched first: until a thread hits it, holds at the other meet nobody.
 */
static unsigned worth_of_foresight(const struct contended *contended,
				   const struct contended_site *site)
{
	unsigned worth = INTEREST_FORESEEN * FORESEEN_HOLDS / (FORESEEN_HOLDS + site->holds);

	if (!site->conflict)
		return 0;
	if (!site->came)
		return worth / (1 + site->vain);
	return contended_is_met(contended, site) ? worth : worth / FORESEEN_UNSEEN_PARTS;
}

bool contended_promises(const struct contended *contended, contended_filter_fn *filter,
			void *context)
{
	for (unsigned i = 0; i < contended->used; i++)
		if ((!filter || filter(context, &contended->site[i])) &&
		    worth_of_foresight(contended, &contended->site[i]) >= INTEREST_EQUAL)
			return true;
	return false;
}

/* What a change of its memory adds to a site's worth: such memory is worth some tries, whatever the
 * tool thinks of the instruction. */
static unsigned worth_of_change(const struct contended_site *site)
{
	if (!site->changes)
		return 0;
	return INTEREST_CHANGED * site->changes / (site->changes + site->tries / CONTENDED_TRIES);
}

static unsigned weight_of(const struct contended *contended, const struct contended_site *site,
			  const struct contended_wish *wish)
{
	unsigned interest;

	if (wish->filter && !wish->filter(wish->context, site))
		return 0;
	interest = wish->interest_of(wish->context, site->pc);
	return interest + worth_of_change(site) +
	       (interest ? worth_of_foresight(contended, site) : 0);
}

struct contended_site *contended_choose(struct contended *contended, struct random *random,
					const struct contended_wish *wish, unsigned *interest)
{
	uint64_t weight[CONTENDED_MAX];
	unsigned drawn;

	if (random_next(random) % 8 >= (wish->scarce ? CONTENDED_PARTS_SCARCE : CONTENDED_PARTS))
		return NULL;
	for (unsigned i = 0; i < contended->used; i++)
		weight[i] = weight_of(contended, &contended->site[i], wish);
	drawn = random_draw(random, weight, contended->used);
	if (drawn == contended->used)
		return NULL;
	*interest = (unsigned)weight[drawn];
	return random_next(random) % INTEREST_EQUAL < *interest ? &contended->site[drawn] : NULL;
}
