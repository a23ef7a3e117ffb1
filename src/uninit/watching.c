/* SPDX-License-Identifier: Apache-2.0 */
/* Which words are watched: a new one takes the slot of one of which enough is known. */
#include "base/clock.h"
#include "uninit/state.h"

#include <trapline/event.h>

#define SETTLED 20000000u /* ns after which a word may give way to one of a newer block, … */
#define BIRTHS 3	  /* … as it may when so many further blocks were born */
/* Ns that a frame's word is watched: a function that has not loaded it by then may never do so. */
#define FRAME_WINDOW 1000000000u
/* Ns that a copy is watched: its memory may get another owner unseen. */
#define COPY_WINDOW 2000000000u

uint64_t uninit_mix(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15ull;
	return value ^ value >> 32;
}

void uninit_count(struct uninit *uninit, const char *name)
{
	uninit->services->count(uninit->host, name, 1);
}

void uninit_retire(struct uninit *uninit, struct word *word)
{
	uninit->services->disarm(uninit->host, word->cookie);
	words_remove(word);
}

bool uninit_arm(struct uninit *uninit, struct word *word)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = word->origin.pid,
				 .address = word->address,
				 .length = WORD_LENGTH,
				 .access = TL_READ | TL_WRITE,
				 .hold = frames_hold(uninit->frames),
				 .window = word->copied		? COPY_WINDOW
					   : word->origin.frame ? FRAME_WINDOW
								: 0,
				 .cookie = word->cookie};
	int err = uninit->services->arm(uninit->host, &watch);

	if (!err)
		return true;
	words_remove(word);
	uninit_count(uninit, "words-refused");
	return false;
}

bool uninit_is_watched(struct uninit *uninit, pid_t pid, uint64_t address)
{
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word->address == address && word->origin.pid == pid)
			return true;
	return false;
}

static bool is_settled(const struct uninit *uninit, const struct word *word)
{
	return clock_now() - word->since > SETTLED || uninit->births - word->birth >= BIRTHS;
}

static struct word *find_oldest(struct uninit *uninit, pid_t pid, bool yielding)
{
	struct word *oldest = NULL;

	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word->origin.pid == pid && (!oldest || word->since < oldest->since) &&
		    (!yielding || word->origin.yields || is_settled(uninit, word)))
			oldest = word;
	return oldest;
}

/* Is it a block that the C library has made for itself? */
static bool is_minor(const struct origin *origin)
{
	return origin->yields && !origin->frame;
}

/* A word of such a block, other than the one at `instead`. */
static struct word *find_minor(struct uninit *uninit, pid_t pid, uint64_t instead)
{
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word->origin.pid == pid && is_minor(&word->origin) &&
		    word->origin.address != instead)
			return word;
	return NULL;
}

bool uninit_give_up_oldest(struct uninit *uninit, pid_t pid)
{
	struct word *oldest = find_minor(uninit, pid, 0);

	if (!oldest)
		oldest = find_oldest(uninit, pid, true);
	if (oldest)
		uninit_retire(uninit, oldest);
	return oldest;
}

/* The oldest word, if it has been watched long enough to give way; else NULL. */
static struct word *find_settled(struct uninit *uninit, pid_t pid)
{
	struct word *oldest = find_oldest(uninit, pid, false);

	return oldest && is_settled(uninit, oldest) ? oldest : NULL;
}

/* A word that gives way to a copy of `source`: any that is no copy itself, since nothing is known
 * of those yet, while the copy is on its way to a use. */
static struct word *find_other(struct uninit *uninit, const struct word *source)
{
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word->origin.pid == source->origin.pid && word != source && !word->copied)
			return word;
	return NULL;
}

/* The word that gives way to one of a new block. Blocks share the slots, since two words of one
 * block mostly tell the same. A block that the library makes for itself, as printf() does at its
 * first call, takes no slot from the program's. */
static struct word *find_least(struct uninit *uninit, const struct origin *origin)
{
	struct word *minor = find_minor(uninit, origin->pid, origin->address), *spare;

	if (minor || is_minor(origin))
		return minor;
	spare = words_spare(uninit->words, origin);
	return spare ? spare : find_settled(uninit, origin->pid);
}

/* Makes sure of a slot for one more word, or for a copy of `source`. False: nothing gives way. */
static bool make_room(struct uninit *uninit, const struct origin *origin, const struct word *source)
{
	struct word *least;

	if (words_count(uninit->words, origin->pid) + frames_slots(uninit->frames, origin->pid) <
		    uninit->services->slots(uninit->host, origin->pid) ||
	    (!origin->yields && frames_give_way(uninit->frames, origin->pid)))
		return true;
	least = source ? find_other(uninit, source) : find_least(uninit, origin);
	if (!least)
		return false;
	uninit_count(uninit, "words-replaced");
	uninit_retire(uninit, least);
	return true;
}

bool uninit_watch_word(struct uninit *uninit, const struct origin *origin, uint64_t address,
		       uint8_t fresh, const struct word *source, struct word **made)
{
	struct word *word;

	if (!fresh || uninit_is_watched(uninit, origin->pid, address) ||
	    !make_room(uninit, origin, source))
		return false;
	word = words_add(uninit->words, origin, address);
	if (!word)
		return false;
	word->fresh = words_bits(fresh);
	word->since = clock_now();
	word->birth = uninit->births;
	*made = word;
	return true;
}

uint64_t uninit_read_word(struct uninit *uninit, pid_t pid, uint64_t address, bool *known)
{
	uint64_t value = 0;

	*known = uninit->services->read(uninit->host, pid, address, &value, sizeof(value)) ==
		 (ssize_t)sizeof(value);
	return value;
}

/* Copies in that memory mean nothing from then on. */
void uninit_forget_copies(struct uninit *uninit, pid_t pid, uint64_t address, uint64_t length)
{
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word->copied && word->origin.pid == pid && word->address - address < length)
			uninit_retire(uninit, word);
}

static bool is_of(const struct word *word, pid_t pid, uint64_t block)
{
	return word->origin.pid == pid && word->origin.address == block && !word->copied;
}

void uninit_forget_block(struct uninit *uninit, pid_t pid, uint64_t block)
{
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (is_of(word, pid, block))
			uninit_retire(uninit, word);
}
