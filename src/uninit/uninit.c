/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block is told of at its birth, before its thread has it. Some of its words are watched from
 * there on, for reading and writing. A store writes bytes; a load of bytes that nobody has written
 * is followed from where its thread is held (follow.h): what depends on the value says how sure the
 * finding is. Where the value was only copied, the copy is watched in turn.
 */
#include "uninit/uninit.h"

#include "base/clock.h"

#include "uninit/describe.h"
#include "uninit/follow.h"
#include "uninit/recover.h"
#include "uninit/rules.h"
#include "uninit/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS 3
#define HOLD 5000000u	  /* ns: following a value takes up to a millisecond or two */
#define SETTLED 20000000u /* ns after which a watch may give way to one of a newer block, … */
#define BIRTHS 3	  /* … or so many blocks later */
#define COPY_WINDOW 2000000000u /* ns: the memory of a copy may get another owner unseen */
#define CALLERS 8		/* looked at for whose access it is */
#define STACK_REACH (8u << 20)	/* bytes above a stack pointer that are taken for its stack */
#define PLACES 1024		/* places of loads remembered */
#define MEMORY (4u << 20) /* bytes that freed blocks may keep from the program: none need be */
#define VAIN 4		  /* times that a place's values are followed without a finding */

struct place {
	uint64_t pc, context;
	unsigned vain;
	enum tl_certainty certainty;
};

struct uninit {
	struct tl_host *host;
	const struct tl_services *services;
	struct words *words;
	struct follow *follow;
	struct place place[PLACES];
	uint64_t births;
};

static uint64_t mix(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15ull;
	return value ^ value >> 32;
}

static void count(struct uninit *uninit, const char *name)
{
	uninit->services->count(uninit->host, name, 1);
}

/* ------------------------------------------------------------------------------------------- */
/* Watching */

static void retire(struct uninit *uninit, struct word *word)
{
	uninit->services->disarm(uninit->host, word->cookie);
	words_remove(word);
}

static bool arm(struct uninit *uninit, struct word *word)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = word->origin.pid,
				 .address = word->address,
				 .length = WORD_LENGTH,
				 .access = TL_READ | TL_WRITE,
				 .hold = HOLD,
				 .window = word->copied ? COPY_WINDOW : 0,
				 .cookie = word->cookie};
	int err = uninit->services->arm(uninit->host, &watch);

	if (!err)
		return true;
	words_remove(word);
	count(uninit, "words-refused");
	return false;
}

static bool is_watched(struct uninit *uninit, pid_t pid, uint64_t address)
{
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word->address == address && word->origin.pid == pid)
			return true;
	return false;
}

/* The word that may give way: the oldest, if it is no more than others were. */
static struct word *find_settled(struct uninit *uninit, pid_t pid)
{
	struct word *oldest = NULL;

	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word->origin.pid == pid && (!oldest || word->since < oldest->since))
			oldest = word;
	return oldest && (clock_now() - oldest->since > SETTLED ||
			  uninit->births - oldest->birth >= BIRTHS)
		       ? oldest
		       : NULL;
}

/* A copy is nearer to what decides than words of which nothing is known yet. */
static struct word *find_other(struct uninit *uninit, const struct word *source)
{
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word->origin.pid == source->origin.pid && word != source && !word->copied)
			return word;
	return NULL;
}

/* A new block shares the slots with older ones: each word tells little of its block's others. */
static struct word *find_least(struct uninit *uninit, const struct origin *origin)
{
	struct word *spare = words_spare(uninit->words, origin);

	return spare ? spare : find_settled(uninit, origin->pid);
}

/* There is a slot for one more, or for a copy of what `source` holds. */
static bool make_room(struct uninit *uninit, const struct origin *origin, const struct word *source)
{
	struct word *least;

	if (words_count(uninit->words, origin->pid) <
	    uninit->services->slots(uninit->host, origin->pid))
		return true;
	least = source ? find_other(uninit, source) : find_least(uninit, origin);
	if (!least)
		return false;
	count(uninit, "words-replaced");
	retire(uninit, least);
	return true;
}

static bool watch_word(struct uninit *uninit, const struct origin *origin, uint64_t address,
		       uint8_t fresh, const struct word *source, struct word **made)
{
	struct word *word;

	if (!fresh || is_watched(uninit, origin->pid, address) ||
	    !make_room(uninit, origin, source))
		return false;
	word = words_add(uninit->words, origin, address);
	if (!word)
		return false;
	word->fresh = fresh;
	word->since = clock_now();
	word->birth = uninit->births;
	*made = word;
	return true;
}

/* ------------------------------------------------------------------------------------------- */
/* Births */

static void note_origin(const struct tl_guarded *block, struct origin *origin, pid_t pid)
{
	size_t frames = block->made.count < WORD_FRAMES ? block->made.count : WORD_FRAMES;

	*origin = (struct origin){.pid = pid,
				  .tid = block->made.tid,
				  .address = block->address,
				  .length = block->length,
				  .time = block->made.time,
				  .context = mix(block->context ^ block->length),
				  .count = frames};
	memcpy(origin->pcs, block->made.pcs, frames * sizeof(origin->pcs[0]));
}

static uint64_t read_word(struct uninit *uninit, pid_t pid, uint64_t address, bool *known)
{
	uint64_t value = 0;

	*known = uninit->services->read(uninit->host, pid, address, &value, sizeof(value)) ==
		 (ssize_t)sizeof(value);
	return value;
}

static bool watch_next(struct uninit *uninit, const struct origin *origin)
{
	uint64_t all = (origin->length + WORD_LENGTH - 1) / WORD_LENGTH;
	uint64_t number = words_turn(uninit->words, origin), address = 0;
	struct word *word;

	for (uint64_t i = 0; i < all && i < SLOTS + 1; i++, number++) {
		address = origin->address + number % all * WORD_LENGTH;
		if (!is_watched(uninit, origin->pid, address))
			break;
	}
	if (!watch_word(uninit, origin, address, words_within(origin, address), NULL, &word))
		return false;
	word->initial = read_word(uninit, origin->pid, address, &word->initial_known);
	count(uninit, "words-watched");
	return arm(uninit, word);
}

static void born(struct uninit *uninit, const struct tl_guarded *block, pid_t pid)
{
	struct origin origin;
	uint64_t words = (block->length + WORD_LENGTH - 1) / WORD_LENGTH;

	if (!block->length || block->zeroed) {
		count(uninit, "blocks-passed");
		return;
	}
	if (uninit->services->spent(uninit->host) > 100) {
		count(uninit, "blocks-over-budget");
		return;
	}
	uninit->births++;
	note_origin(block, &origin, pid);
	count(uninit, "blocks");
	for (unsigned i = 0; i < SLOTS && i < words; i++)
		if (!watch_next(uninit, &origin))
			break;
}

static bool is_of(const struct word *word, pid_t pid, uint64_t block)
{
	return word->origin.pid == pid && word->origin.address == block && !word->copied;
}

static void forget_block(struct uninit *uninit, pid_t pid, uint64_t block)
{
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (is_of(word, pid, block))
			retire(uninit, word);
}

static void on_guarded(void *state, const struct tl_guarded_news *news)
{
	struct uninit *uninit = state;
	const struct tl_guarded *block = news->block;

	if (news->event == TL_GUARDED_BORN && block)
		born(uninit, block, news->from->pid);
	else if (news->event == TL_GUARDED_FREED && block)
		forget_block(uninit, news->from->pid, block->address);
}

/* ------------------------------------------------------------------------------------------- */
/* Stores */

/* The bytes are there from now on, as they should be found later. */
static void copy_made(struct uninit *uninit, struct word *word)
{
	word->pending = false;
	word->initial = read_word(uninit, word->origin.pid, word->address, &word->initial_known);
}

/* One instruction may store to several words, of which only one need have told: the others' signal
 * is lost where it comes at the same time. */
static void written(struct uninit *uninit, const struct tl_access *access)
{
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word)) {
		uint8_t touched = words_touched(word, access->address, access->length);

		if (word->origin.pid != access->pid || !touched)
			continue;
		if (word->pending && word->tid == access->tid && !(word->fresh & ~touched)) {
			copy_made(uninit, word);
			continue;
		}
		word->fresh &= (uint8_t)~touched;
		if (!word->fresh)
			retire(uninit, word);
	}
}

/* ------------------------------------------------------------------------------------------- */
/* Loads */

static struct place *find_place(struct uninit *uninit, uint64_t pc, uint64_t context)
{
	struct place *place = &uninit->place[mix(pc ^ context) % PLACES];

	if (place->pc != pc || place->context != context)
		*place = (struct place){.pc = pc, .context = context};
	return place;
}

static bool has_changed(struct uninit *uninit, const struct word *word, uint8_t bytes)
{
	bool known;
	uint64_t value = read_word(uninit, word->origin.pid, word->address, &known);
	uint64_t differ = value ^ word->initial;

	if (!word->initial_known || !known)
		return false;
	for (unsigned i = 0; i < WORD_LENGTH; i++)
		if ((bytes >> i & 1) && (differ >> 8 * i & 0xff))
			return true;
	return false;
}

static bool is_stack(const struct tl_access *access, uint64_t address)
{
	return address - (access->registers->general[4] - STACK_REACH / 64) < STACK_REACH;
}

/* The copy is watched before its thread makes it. */
static void watch_copies(struct uninit *uninit, const struct tl_access *access,
			 const struct word *from, const struct shadow_found *found)
{
	for (unsigned i = 0; i < found->copies; i++) {
		uint64_t address = found->copy[i].address & ~(uint64_t)(WORD_LENGTH - 1);
		struct origin origin = from->origin;
		struct word span = {.address = address};
		struct word *word;

		if (is_stack(access, found->copy[i].address) ||
		    !watch_word(uninit, &origin, address,
				words_touched(&span, found->copy[i].address, found->copy[i].length),
				from, &word))
			continue;
		word->copied = true;
		word->pending = true;
		word->tid = access->tid;
		count(uninit, "copies-watched");
		if (!arm(uninit, word))
			continue;
		if (clock_now() - access->time > HOLD)
			retire(uninit, word);
		return;
	}
}

static void tell(struct uninit *uninit, const struct tl_access *access, const struct word *word,
		 uint8_t bytes, const struct shadow_found *found,
		 const struct rules_verdict *verdict)
{
	struct place *place = find_place(uninit, access->pc, word->origin.context);
	struct describe_load load = {.access = access,
				     .word = word,
				     .bytes = bytes,
				     .found = found,
				     .sent = access->access & TL_KERNEL};

	if (verdict->certainty <= place->certainty)
		return;
	place->certainty = verdict->certainty;
	uninit_describe(uninit->host, uninit->services, &load, verdict);
}

/* The kernel has read the bytes on the program's behalf: they have left it. */
static void leak(struct uninit *uninit, const struct tl_access *access, struct word *word,
		 uint8_t bytes)
{
	struct rules_verdict verdict = {
		.certainty = word->copied ? TL_POSSIBLE : TL_LIKELY,
		.evidence = {"the kernel read the bytes for a system call of the program"},
		.evidence_count = 1};

	tell(uninit, access, word, bytes, NULL, &verdict);
}

static void end_block(struct uninit *uninit, struct word *word)
{
	if (word->copied)
		retire(uninit, word);
	else
		forget_block(uninit, word->origin.pid, word->origin.address);
}

static bool is_hidden(struct uninit *uninit, const struct rules_verdict *verdict, struct word *word)
{
	if (!verdict->hidden)
		return false;
	count(uninit, verdict->hidden);
	if (verdict->over)
		end_block(uninit, word);
	return true;
}

/* Who made the access: takes symbols, which can take longer than a thread is held. */
static void name_place(struct uninit *uninit, const struct tl_access *access,
		       struct tl_frame frames[CALLERS], struct rules_place *place)
{
	place->frames = frames;
	place->count = uninit->services->stack(uninit->host, access, frames, CALLERS);
}

/* The walk comes first: the thread is held only for so long. */
static void follow(struct uninit *uninit, const struct rules_load *admitted, struct word *word,
		   uint8_t bytes)
{
	struct rules_load load = *admitted;
	const struct tl_access *access = load.access;
	struct place *place = find_place(uninit, access->pc, word->origin.context);
	struct tl_frame frames[CALLERS];
	struct rules_verdict verdict;
	struct shadow_found found;

	if (place->vain >= VAIN || place->certainty == TL_DEFINITE) {
		count(uninit, "loads-known");
		return;
	}
	count(uninit, "loads-followed");
	if (uninit_follow_load(uninit->follow, access, word->address, bytes, &found))
		load.found = &found;
	else
		count(uninit, "loads-not-followed");
	/* Else memory was read that the thread may have changed again. */
	if (load.found && clock_now() - access->time > HOLD)
		found.certain = false;
	name_place(uninit, access, frames, &load.place);
	uninit_judge(&load, &verdict);
	if (is_hidden(uninit, &verdict, word))
		return;
	/* Those that the allocator makes are none of the program's. The thread is held still. */
	if (load.found && !found.sink)
		watch_copies(uninit, access, word, &found);
	place->vain += verdict.again;
	tell(uninit, access, word, bytes, load.found, &verdict);
}

/* Was its thread's birth, or its load, answered while the thread waited? */
static bool is_held(struct uninit *uninit, const struct tl_access *access, const struct word *word)
{
	struct tl_guarded block = {.size = sizeof(block)};

	if (clock_now() - access->time > HOLD)
		return false;
	return word->copied || (uninit->services->guarded(uninit->host, word->origin.pid,
							  word->origin.address, &block) &&
				block.told && !block.freed);
}

static void loaded(struct uninit *uninit, const struct tl_access *access, struct word *word)
{
	uint8_t bytes = word->fresh & words_touched(word, access->address, access->length);
	struct rules_load load = {.access = access, .copied = word->copied};
	struct rules_verdict verdict;

	if (!bytes || word->pending)
		return;
	load.unheld = !is_held(uninit, access, word);
	load.changed = !(access->access & TL_WRITE) && has_changed(uninit, word, bytes);
	uninit_admit(&load, &verdict);
	if (is_hidden(uninit, &verdict, word))
		return;
	if (access->access & TL_KERNEL)
		leak(uninit, access, word, bytes);
	else
		follow(uninit, &load, word, bytes);
}

/* A system call wrote to more than one word at a time, as a rule. Of several signals at once one
 * arrives: of the block's other words nothing is known any more. */
static void written_by_kernel(struct uninit *uninit, const struct tl_access *access,
			      struct word *word)
{
	struct word hit = *word;

	count(uninit, "blocks-written-by-kernel");
	if (hit.copied)
		retire(uninit, word);
	else
		forget_block(uninit, access->pid, hit.origin.address);
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct uninit *uninit = state;
	struct word *word = words_find(uninit->words, access->cookie);
	struct tl_access recovered;

	if (word && (access->access & TL_GUESSED) && !(access->access & (TL_WRITE | TL_LATE)) &&
	    uninit_recover(uninit->host, uninit->services, access, word->address, &recovered))
		access = &recovered;
	if (!word) {
		count(uninit, "hits-stale");
		return;
	}
	if (access->access & TL_READ || access->access & (TL_LATE | TL_GUESSED))
		loaded(uninit, access, word);
	/* An update's load comes first; what it leaves is no longer as the allocator left it. */
	if ((access->access & TL_WRITE) && (access->access & TL_KERNEL) && word->cookie)
		written_by_kernel(uninit, access, word);
	else if (access->access & TL_WRITE)
		written(uninit, access);
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct uninit *uninit = state;
	struct word *word = words_find(uninit->words, watch->cookie);

	(void)hits;
	(void)threads;
	if (word)
		words_remove(word);
}

/*
 * The names of the library's functions are read before the program runs on: later a thread would
 * have to be held for as long as that takes.
 */
static void on_process_began(void *state, pid_t pid)
{
	struct uninit *uninit = state;
	char path[64], line[512], module[256];
	unsigned long long start;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%*x r-xp %*x %*s %*u %255s", &start, module) == 2 &&
		    uninit_is_library(module))
			uninit->services->function_name(uninit->host, pid, start + 4096);
	if (maps)
		fclose(maps);
}

static void on_process_ended(void *state, pid_t pid)
{
	struct uninit *uninit = state;

	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word->origin.pid == pid)
			words_remove(word);
}

/* ------------------------------------------------------------------------------------------- */

static void finish(void *state)
{
	struct uninit *uninit = state;

	words_destroy(uninit->words);
	uninit_follow_destroy(uninit->follow);
	free(uninit);
}

static void ask_for_blocks(struct tl_host *host, const struct tl_services *services)
{
	const struct tl_guarding guarding = {.size = sizeof(guarding),
					     .all = services->option(host, "all"),
					     .births = true,
					     .memory = MEMORY};

	services->guard(host, &guarding);
}

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct uninit *uninit = calloc(1, sizeof(*uninit));

	if (!uninit)
		return -1;
	uninit->host = host;
	uninit->services = services;
	uninit->words = words_create();
	uninit->follow = uninit_follow_create(host, services);
	if (!uninit->words || !uninit->follow) {
		finish(uninit);
		return -1;
	}
	ask_for_blocks(host, services);
	*state = uninit;
	return 0;
}

const struct tl_tool uninit_tool = {
	.size = sizeof(uninit_tool),
	.version = TL_TOOL_VERSION,
	.name = "uninit",
	.summary = "find reads of memory that nobody wrote",
	.start = start,
	.hit = on_hit,
	.unwatched = on_unwatched,
	.exit = finish,
	.process_began = on_process_began,
	.process_ended = on_process_ended,
	.slots = SLOTS,
	.wants = TL_WANTS_GUARDS,
	.guarded = on_guarded,
};
