/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the tool, which its files share, and what they share of watching words. */
#ifndef UNINIT_STATE_H
#define UNINIT_STATE_H

#include "uninit/ahead.h"
#include "uninit/follow.h"
#include "uninit/frames.h"
#include "uninit/rules.h"
#include "uninit/words.h"

#include <trapline/tool.h>

#define UNINIT_SLOTS 3
#define UNINIT_PLACES 4096 /* places of loads remembered, and bytes that are loaded there */

struct uninit_place {
	uint64_t pc, context;
	unsigned vain;	  /* times that its values were followed without a finding, … */
	unsigned updates; /* … or were to be stored again with other bits */
	enum tl_certainty certainty;
};

struct uninit {
	struct tl_host *host;
	const struct tl_services *services;
	struct words *words;
	struct follow *follow;
	struct frames *frames;
	struct ahead *ahead; /* of threads that are handed a block */
	struct uninit_place place[UNINIT_PLACES];
	uint64_t births;
};

uint64_t uninit_mix(uint64_t value);
void uninit_count(struct uninit *uninit, const char *name);

/* A word that may be armed, if there is a slot or another gives way: `source` is the word whose
 * copy it is to hold, or NULL. */
bool uninit_watch_word(struct uninit *uninit, const struct origin *origin, uint64_t address,
		       uint8_t fresh, const struct word *source, struct word **made);
bool uninit_is_watched(struct uninit *uninit, pid_t pid, uint64_t address);
bool uninit_arm(struct uninit *uninit, struct word *word);
void uninit_retire(struct uninit *uninit, struct word *word);
/* The word that was watched first, of those that give way to frames. False: there is none. */
bool uninit_give_up_oldest(struct uninit *uninit, pid_t pid);
void uninit_forget_block(struct uninit *uninit, pid_t pid, uint64_t block);
/* Copies in memory that is being given to somebody, or back. */
void uninit_forget_copies(struct uninit *uninit, pid_t pid, uint64_t address, uint64_t length);
uint64_t uninit_read_word(struct uninit *uninit, pid_t pid, uint64_t address, bool *known);

#endif
