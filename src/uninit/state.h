/* SPDX-License-Identifier: Apache-2.0 */
/* The tool's state, which its files share, and (watching.c) who gets a slot. The controller's
 * thread alone uses it. */
#ifndef UNINIT_STATE_H
#define UNINIT_STATE_H

#include "uninit/ahead.h"
#include "uninit/follow.h"
#include "uninit/frames.h"
#include "uninit/rules.h"
#include "uninit/words.h"

#include <trapline/tool.h>

#define UNINIT_SLOTS 3
/* Entries for places of loads, and for the bytes that are loaded there. */
#define UNINIT_PLACES 4096

struct uninit_place {
	uint64_t pc, context;
	unsigned vain;	  /* how often a value was followed there without a finding, … */
	unsigned updates; /* … or was about to be stored back with other bits (a bit-field) */
	enum tl_certainty certainty;
};

struct uninit {
	struct tl_host *host;
	const struct tl_services *services;
	struct words *words;
	struct follow *follow;
	struct frames *frames;
	struct ahead *ahead; /* for threads that are handed a block */
	struct uninit_place place[UNINIT_PLACES];
	uint64_t births;
};

uint64_t uninit_mix(uint64_t value);
void uninit_count(struct uninit *uninit, const char *name);

/* Makes a word that may be armed, if there is a slot for it or another word gives way. `fresh`: the
 * bytes that nobody wrote, a bit each. `source`: the word of which it will hold a copy, or NULL. */
bool uninit_watch_word(struct uninit *uninit, const struct origin *origin, uint64_t address,
		       uint8_t fresh, const struct word *source, struct word **made);
bool uninit_is_watched(struct uninit *uninit, pid_t pid, uint64_t address);
bool uninit_arm(struct uninit *uninit, struct word *word);
void uninit_retire(struct uninit *uninit, struct word *word);
/* Retires the word that has been watched for longest, of those that give way to frames. False:
 * there is none. */
bool uninit_give_up_oldest(struct uninit *uninit, pid_t pid);
void uninit_forget_block(struct uninit *uninit, pid_t pid, uint64_t block);
/* Retires words that hold copies in this memory: it gets another owner. */
void uninit_forget_copies(struct uninit *uninit, pid_t pid, uint64_t address, uint64_t length);
uint64_t uninit_read_word(struct uninit *uninit, pid_t pid, uint64_t address, bool *known);

#endif
