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

/* Memory that changes under a thread is worth some tries, whatever is thought of the instruction.
 */
static unsigned worth_of_change(const struct contended_site *site)
{
	if (!site->changes)
		return 0;
	return INTEREST_CHANGED * site->changes / (site->changes + site->tries / CONTENDED_TRIES);
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
		weight[i] = interest_of(context, contended->site[i].pc) +
			    worth_of_change(&contended->site[i]);
	drawn = random_draw(random, weight, contended->used);
	if (drawn == contended->used)
		return NULL;
	*interest = (unsigned)weight[drawn];
	return random_next(random) % INTEREST_EQUAL < *interest ? &contended->site[drawn] : NULL;
}
