/* SPDX-License-Identifier: Apache-2.0 */
#include "history/sites.h"

void sites_note(struct sites *sites, struct random *random, uint64_t pc)
{
	unsigned at;

	for (unsigned i = 0; i < sites->used; i++)
		if (sites->site[i].pc / SITE_BYTES == pc / SITE_BYTES)
			return;
	at = sites->used < SITES_MAX ? sites->used++ : (unsigned)(random_next(random) % SITES_MAX);
	sites->site[at] = (struct site){.pc = pc};
}

uint64_t sites_draw(const struct sites *sites, struct random *random)
{
	uint64_t drawn = 0;

	for (int i = 0; sites->used && i < SITE_DRAWS; i++) {
		const struct site *site = &sites->site[random_next(random) % sites->used];

		drawn = site->pc;
		if (random_next(random) % (1 + site->vain) == 0)
			break;
	}
	return drawn;
}

uint64_t sites_draw_sharply(const struct sites *sites, struct random *random)
{
	uint64_t weight[SITES_MAX];
	unsigned drawn;

	for (unsigned i = 0; i < sites->used; i++) {
		uint64_t looks = 1 + (uint64_t)sites->site[i].vain;

		weight[i] = SITE_SHARPNESS / (looks * looks);
	}
	drawn = random_draw(random, weight, sites->used);
	return drawn < sites->used ? sites->site[drawn].pc : 0;
}

void sites_tell(struct sites *sites, uint64_t pc, bool came)
{
	for (unsigned i = 0; i < sites->used; i++)
		if (sites->site[i].pc == pc)
			sites->site[i].vain = came ? 0 : sites->site[i].vain + 1;
}
