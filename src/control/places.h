/* SPDX-License-Identifier: Apache-2.0 */
/* Places in code, of which one is drawn now and then. */
#ifndef CONTROL_PLACES_H
#define CONTROL_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct control;

#define CODE_PLACES 256 /* places of code in use remembered for each process */

/* Code there is in use. */
struct places {
	struct {
		uint64_t pc;
		unsigned vain; /* watches of code there that nobody came by, since somebody did */
	} place[CODE_PLACES];
	unsigned used;
};

void places_note(struct control *control, struct places *places, uint64_t pc);
/* One of them, seldom of those where nobody comes; 0: there is none. */
uint64_t places_draw(struct control *control, const struct places *places);
/* One of them, hardly ever of those where others do better. */
uint64_t places_draw_sharply(struct control *control, const struct places *places);
/* Somebody has come by code there while it was watched, or nobody. */
void places_tell(struct places *places, uint64_t pc, bool came);

#endif
