/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code known to be in use: where instructions to watch are chosen from. Not all of it is: the stack
 * of a thread that waits for others shows what it will run at the end. Places where nobody comes by
 * what is watched are drawn the less often, the more often that was in vain.
 */
#include "control/private.h"

#define BYTES 64 /* places nearer to each other are one */
#define DRAWS 8
#define SHARPNESS (1ull << 20) /* weight of a place that was never in vain */

void places_note(struct control *control, struct places *places, uint64_t pc)
{
	unsigned place;

	for (unsigned i = 0; i < places->used; i++)
		if (places->place[i].pc / BYTES == pc / BYTES)
			return;
	place = places->used < CODE_PLACES ? places->used++
					   : (unsigned)(control_random(control) % CODE_PLACES);
	places->place[place].pc = pc;
	places->place[place].vain = 0;
}

uint64_t places_draw(struct control *control, const struct places *places)
{
	uint64_t drawn = 0;

	for (int i = 0; places->used && i < DRAWS; i++) {
		uint64_t place = control_random(control) % places->used;

		drawn = places->place[place].pc;
		if (control_random(control) % (1 + places->place[place].vain) == 0)
			break;
	}
	return drawn;
}

uint64_t places_draw_sharply(struct control *control, const struct places *places)
{
	uint64_t weight[CODE_PLACES];
	unsigned drawn;

	for (unsigned i = 0; i < places->used; i++) {
		uint64_t looks = 1 + (uint64_t)places->place[i].vain;

		weight[i] = SHARPNESS / (looks * looks);
	}
	drawn = control_draw(control, weight, places->used);
	return drawn < places->used ? places->place[drawn].pc : 0;
}

void places_tell(struct places *places, uint64_t pc, bool came)
{
	for (unsigned i = 0; i < places->used; i++)
		if (places->place[i].pc == pc)
			places->place[i].vain = came ? 0 : places->place[i].vain + 1;
}
