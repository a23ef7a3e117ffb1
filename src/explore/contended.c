/* SPDX-License-Identifier: Apache-2.0 */
#include "explore/contended.h"

#include <stddef.h>

static struct contended_site *find(struct contended *contended, uint64_t pc)
{
	for (unsigned i = 0; i < contended->used; i++)
		if (contended->site[i].pc == pc)
			return &contended->site[i];
	return NULL;
}

struct contended_site *contended_note(struct contended *contended, struct random *random,
				      uint64_t pc, pid_t tid)
{
	struct contended_site *site = find(contended, pc);

	if (!site) {
		unsigned at = contended->used < CONTENDED_MAX
				      ? contended->used++
				      : (unsigned)(random_next(random) % CONTENDED_MAX);

		site = &contended->site[at];
		*site = (struct contended_site){.pc = pc};
	}
	site->tid = tid;
	return site;
}

void contended_change(struct contended *contended, struct random *random, uint64_t pc, pid_t tid)
{
	contended_note(contended, random, pc, tid)->changes++;
}

/* Look-ahead follows ways that no thread ever goes. */
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
	struct contended_site *site = contended_note(contended, random, pc, tid);

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

/* Who is never seen to come by is waited for first: until then nobody need be held for him. */
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

bool contended_promises(const struct contended *contended)
{
	for (unsigned i = 0; i < contended->used; i++)
		if (worth_of_foresight(contended, &contended->site[i]) >= INTEREST_EQUAL)
			return true;
	return false;
}

/* Memory that changes under a thread is worth some tries, whatever is thought of the instruction.
 */
static unsigned worth_of_change(const struct contended_site *site)
{
	if (!site->changes)
		return 0;
	return INTEREST_CHANGED * site->changes / (site->changes + site->tries / CONTENDED_TRIES);
}

static unsigned weight_of(const struct contended *contended, const struct contended_site *site,
			  unsigned interest)
{
	return interest + worth_of_change(site) +
	       (interest ? worth_of_foresight(contended, site) : 0);
}

struct contended_site *contended_choose(struct contended *contended, struct random *random,
					bool scarce, interest_fn *interest_of, void *context,
					unsigned *interest)
{
	uint64_t weight[CONTENDED_MAX];
	unsigned drawn;

	if (random_next(random) % 8 >= (scarce ? CONTENDED_PARTS_SCARCE : CONTENDED_PARTS))
		return NULL;
	for (unsigned i = 0; i < contended->used; i++)
		weight[i] = weight_of(contended, &contended->site[i],
				      interest_of(context, contended->site[i].pc));
	drawn = random_draw(random, weight, contended->used);
	if (drawn == contended->used)
		return NULL;
	*interest = (unsigned)weight[drawn];
	return random_next(random) % INTEREST_EQUAL < *interest ? &contended->site[drawn] : NULL;
}
