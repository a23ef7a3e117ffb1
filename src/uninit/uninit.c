/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block is told of at its birth, before its thread has it. Some of its words are watched from
 * there on, for reading and writing. A store writes bytes; a load of bytes that nobody has written
 * is followed from where its thread is held (follow.h): what depends on the value says how sure the
 * finding is. Where the value was only copied, the copy is watched in turn. Frames that are being
 * entered are looked at in the same way (frames.h).
 */
#include "uninit/uninit.h"

#include "base/clock.h"
#include "base/proc_line.h"
#include "tool/set.h"
#include "uninit/alignment.h"
#include "uninit/counts.h"
#include "uninit/load.h"
#include "uninit/received.h"
#include "uninit/recover.h"
#include "uninit/state.h"
#include "uninit/unseen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

#define PREDICTED_FIRST 4 /* blocks of a context, … */
#define PREDICTED_ALL 64  /* … of test suites, where one of many goes another way, then … */
#define PREDICTED_AGAIN 4 /* … every one of so many */
#define STRING_BEFORE 64u /* bytes that a repeated store may have written before the told one */
#define MEMORY (4u << 20) /* bytes that freed blocks may keep from the program: none need be */

/* ------------------------------------------------------------------------------------------- */
/* Births */

static void note_origin(const struct tl_guarded *block, struct origin *origin, pid_t pid)
{
	size_t frames = block->made.count < WORD_FRAMES ? block->made.count : WORD_FRAMES;

	*origin = (struct origin){.pid = pid,
				  .tid = block->made.tid,
				  .address = block->address,
				  .length = block->length,
				  .filled = block->copied,
				  .serial = block->serial,
				  .time = block->made.time,
				  .context = uninit_mix(block->context ^ block->length),
				  .count = frames};
	memcpy(origin->pcs, block->made.pcs, frames * sizeof(origin->pcs[0]));
}

static bool watch_fresh(struct uninit *uninit, const struct origin *origin, uint64_t address,
			const struct predict_word *predicted)
{
	struct word *word;

	if (!uninit_watch_word(uninit, origin, address, words_within(origin, address), NULL, &word))
		return false;
	word->predicted = predicted;
	word->straight = predicted ? predicted->straight : 0;
	word->initial = uninit_read_word(uninit, origin->pid, address, &word->initial_known);
	uninit_count(uninit, "words-watched");
	return uninit_arm(uninit, word);
}

static bool watch_next(struct uninit *uninit, const struct origin *origin)
{
	uint64_t first = origin->filled / WORD_LENGTH, address = 0;
	uint64_t all = words_fresh(origin);
	uint64_t number = words_turn(uninit->words, origin);

	for (uint64_t i = 0; i < all && i < UNINIT_SLOTS + 1; i++, number++) {
		address = origin->address + (first + number % all) * WORD_LENGTH;
		if (!uninit_is_watched(uninit, origin->pid, address))
			break;
	}
	return watch_fresh(uninit, origin, address, NULL);
}

/*
 * A prediction may go astray the same way each time, and takes a part of a millisecond: of a
 * context's blocks the first ones have one, and every PREDICTED_AGAIN-th. Of a single word there is
 * nothing to choose, but it may come out that the kernel has no part in it.
 */
static bool is_predicted(struct uninit *uninit, const struct origin *origin)
{
	unsigned births = words_birth(uninit->words, origin->context);

	return !origin->yields &&
	       (origin->length > WORD_LENGTH || !tool_kernel_told(uninit->host)) &&
	       (births < (frames_in_order(uninit->frames) ? PREDICTED_ALL : PREDICTED_FIRST) ||
		births % PREDICTED_AGAIN == 0);
}

/* The words that the thread will load before it has stored to them. How many are watched. */
static unsigned watch_predicted(struct uninit *uninit, const struct tl_access *from,
				const struct origin *origin)
{
	struct predict_word words[UNINIT_SLOTS];
	unsigned watched = 0, count;

	if (!is_predicted(uninit, origin))
		return 0;
	count = ahead_of_block(uninit->ahead, from, origin, words, UNINIT_SLOTS);
	uninit_count(uninit, count ? "blocks-predicted" : "blocks-not-predicted");
	for (unsigned i = 0; i < count; i++)
		watched += watch_fresh(uninit, origin, words[i].address, &words[i]);
	return watched;
}

/* Made by the C library for itself, or before the program began. */
static bool is_the_librarys(struct uninit *uninit, const struct origin *origin)
{
	const char *module =
		origin->count ? uninit->services->module(uninit->host, origin->pid, origin->pcs[0])
			      : NULL;

	return !module || uninit_has_names(module);
}

static void born(struct uninit *uninit, const struct tl_guarded *block,
		 const struct tl_access *from)
{
	struct origin origin;
	unsigned watched;

	/* What stood there has gone, whether that was told or not. */
	uninit_forget_block(uninit, from->pid, block->address);
	uninit_forget_copies(uninit, from->pid, block->address, block->length);
	if (block->copied >= block->length || block->zeroed) {
		uninit_count(uninit, "blocks-passed");
		return;
	}
	if (uninit->services->spent(uninit->host) > 100) {
		uninit_count(uninit, "blocks-over-budget");
		return;
	}
	uninit->births++;
	note_origin(block, &origin, from->pid);
	origin.yields = is_the_librarys(uninit, &origin);
	unseen_note_reads(&origin);
	uninit_count(uninit, "blocks");
	watched = watch_predicted(uninit, from, &origin);
	for (unsigned i = watched; i < UNINIT_SLOTS && i < words_fresh(&origin); i++)
		if (!watch_next(uninit, &origin))
			break;
}

/* ------------------------------------------------------------------------------------------- */
/* Frames */

static unsigned slots_used(void *context, pid_t pid)
{
	const struct uninit *uninit = context;

	return words_count(uninit->words, pid) + frames_slots(uninit->frames, pid);
}

static void watch_frame(struct uninit *uninit, const struct tl_access *access,
			const struct origin *origin, const struct predict_word *predicted)
{
	uint64_t address = predicted->address;
	struct word *word;

	if (!uninit_watch_word(uninit, origin, address, 0xff, NULL, &word))
		return;
	word->straight = predicted->straight;
	word->initial = uninit_read_word(uninit, origin->pid, address, &word->initial_known);
	if (!uninit_arm(uninit, word))
		return;
	uninit_count(uninit, "frame-words-watched");
	if (clock_now() - access->time > frames_hold(uninit->frames))
		uninit_retire(uninit, word);
}

/*
 * The thread is held before the function's first instruction until all is armed: in the slot that
 * it was met with, which is free only afterwards. In the order of calls one slot is for the next
 * function.
 */
static void entered(struct uninit *uninit, const struct tl_access *access)
{
	unsigned slots = uninit->services->slots(uninit->host, access->pid);
	unsigned room = slots > 1 ? slots - 1 : 0, next = frames_in_order(uninit->frames), count;
	struct predict_word words[FRAMES_WORDS];
	struct origin origin;

	count = frames_entered(uninit->frames, access, &origin, words,
			       room > next ? room - next : 0);
	if (count)
		unseen_note_reads(&origin);
	while (slots_used(uninit, access->pid) + count + next > room &&
	       uninit_give_up_oldest(uninit, access->pid))
		;
	for (unsigned i = 0; i < count && slots_used(uninit, access->pid) + next < room; i++)
		watch_frame(uninit, access, &origin, &words[i]);
	count = slots_used(uninit, access->pid);
	if (next && count < room)
		frames_plan(uninit->frames, access->pid, room - count);
}

/* Slots have become free. */
static void plan(struct uninit *uninit, pid_t pid)
{
	unsigned slots = uninit->services->slots(uninit->host, pid);

	if (frames_in_order(uninit->frames) && !frames_slots(uninit->frames, pid) && slots > 1 &&
	    slots_used(uninit, pid) < slots)
		frames_plan(uninit->frames, pid, 1);
}

static void on_tick(void *state)
{
	struct uninit *uninit = state;

	frames_tick(uninit->frames, slots_used, uninit);
}

static void on_sample(void *state, const struct tl_access *access)
{
	struct uninit *uninit = state;

	frames_see(uninit->frames, access->pid, access->pc);
}

/* ------------------------------------------------------------------------------------------- */
/* Stores */

/* The bytes are there from now on, as they should be found later. */
static void copy_made(struct uninit *uninit, struct word *word)
{
	word->pending = false;
	word->initial =
		uninit_read_word(uninit, word->origin.pid, word->address, &word->initial_known);
}

/* Of a bit-field the neighbours are nobody's still: from now on they should be as they are now. */
static void updated(struct uninit *uninit, struct word *word)
{
	uninit_count(uninit, "words-updated");
	word->initial =
		uninit_read_word(uninit, word->origin.pid, word->address, &word->initial_known);
}

/* One instruction may store to several words, of which only one need have told: the others' signal
 * is lost where it comes at the same time. Repeated string instructions write up to a line at a
 * time, and tell one element of it. */
static void written(struct uninit *uninit, const struct tl_access *access)
{
	bool repeats = access->traits & TL_TRAIT_STRING;
	uint64_t first = access->address - (repeats ? STRING_BEFORE : 0);
	uint64_t length = access->address + access->length - first + (repeats ? WORD_LENGTH : 0);

	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word)) {
		uint8_t touched = words_touched(word, first, length);

		if (word->origin.pid != access->pid || !touched)
			continue;
		/* It is not the copy that was to be made. */
		if (word->pending && (access->access & TL_KERNEL)) {
			uninit_count(uninit, "copies-written-by-kernel");
			uninit_retire(uninit, word);
			continue;
		}
		if (word->pending && word->tid == access->tid && word->copied_at &&
		    word->copied_at != access->pc)
			continue;
		if (word->pending && word->tid == access->tid &&
		    !(words_bytes(word->fresh) & ~touched)) {
			copy_made(uninit, word);
			continue;
		}
		if (words_store(word, access->tid, access->pc, touched))
			updated(uninit, word);
		if (!word->fresh)
			uninit_retire(uninit, word);
	}
}

/* What a frame holds there is another value from then on, and nobody's still. */
static bool is_alignment(struct uninit *uninit, const struct tl_access *access,
			 const struct word *word)
{
	uint64_t start, end;

	if (!word->origin.frame || access->length != WORD_LENGTH ||
	    access->access & (TL_READ | TL_KERNEL | TL_LATE | TL_GUESSED))
		return false;
	ahead_look_at(uninit->ahead, access->pid);
	return !uninit->services->function(uninit->host, access->pid, access->pc, &start, &end) &&
	       is_alignment_push(ahead_code, uninit->ahead, start, access->pc);
}

static void moved_over(struct uninit *uninit, struct word *word)
{
	uninit_count(uninit, "words-pushed-over");
	word->initial =
		uninit_read_word(uninit, word->origin.pid, word->address, &word->initial_known);
}

/* A system call wrote to more than one word at a time, as a rule. Of several signals at once one
 * arrives: where it is not known how much was written, of the block's other words nothing is known
 * any more. */
static void written_by_kernel(struct uninit *uninit, const struct tl_access *access,
			      struct word *word)
{
	struct word hit = *word;
	struct tl_access whole;

	if (uninit_received(access, &whole)) {
		written(uninit, &whole);
		return;
	}
	uninit_count(uninit, "blocks-written-by-kernel");
	if (hit.copied)
		uninit_retire(uninit, word);
	else
		uninit_forget_block(uninit, access->pid, hit.origin.address);
}

/* Of several words that one instruction touches one is told: the others' signals find the first one
 * pending. */
static void note_shared(struct uninit *uninit, const struct tl_access *access,
			const struct word *told)
{
	if (access->access & (TL_KERNEL | TL_LATE | TL_GUESSED))
		return;
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		word->shared += word != told && word->origin.pid == access->pid &&
				words_touched(word, access->address, access->length);
}

/* Of several words that one instruction loads one is told, or one that a string function loads
 * without being asked about it: then the access is to what it was asked about. */
static void loaded(struct uninit *uninit, const struct tl_access *access, struct word *told)
{
	struct tl_access asked = *access;

	uninit_loaded(uninit, access, told);
	if ((access->access & (TL_KERNEL | TL_LATE | TL_GUESSED)) ||
	    ((access->traits & TL_TRAIT_BEYOND) && !(access->traits & TL_TRAIT_BOUNDED)))
		return;
	asked.traits &= ~TL_TRAIT_BEYOND;
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word != told && word->origin.pid == access->pid &&
		    words_touched(word, asked.address, asked.length))
			uninit_loaded(uninit, &asked, word);
}

/*
 * Which bytes were loaded, where that was left open. What another thread stores to the word is told
 * itself. Accepted: that one has just stored next to it what makes the value stand at another place
 * alone. False: the access is as it was told, or it stays a guess.
 */
static bool settle_load(struct uninit *uninit, const struct tl_access *access,
			const struct word *word, struct tl_access *settled)
{
	if (access->access & (TL_WRITE | TL_LATE))
		return false;
	if (access->traits & TL_TRAIT_REALIGNED) {
		*settled = *access;
		settled->address = access->loaded_from;
		settled->value_known = false; /* it is that of the other address */
		return true;
	}
	return (access->access & TL_GUESSED) &&
	       uninit_recover(uninit->host, uninit->services, access, word->address, settled);
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct uninit *uninit = state;
	struct word *word = words_find(uninit->words, access->cookie);
	struct tl_access settled;

	if (frames_owns(access->cookie)) {
		entered(uninit, access);
		return;
	}
	if (word && settle_load(uninit, access, word, &settled))
		access = &settled;
	if (!word) {
		uninit_count(uninit, "words-late");
		return;
	}
	note_shared(uninit, access, word);
	if (access->access & TL_READ || access->access & (TL_LATE | TL_GUESSED))
		loaded(uninit, access, word);
	/* An update's load comes first; what it leaves is no longer as the allocator left it. */
	if ((access->access & TL_WRITE) && (access->access & TL_KERNEL) && word->cookie)
		written_by_kernel(uninit, access, word);
	else if ((access->access & TL_WRITE) && is_alignment(uninit, access, word))
		moved_over(uninit, word);
	else if (access->access & TL_WRITE)
		written(uninit, access);
	plan(uninit, access->pid);
}

static void on_guarded(void *state, const struct tl_guarded_news *news)
{
	struct uninit *uninit = state;
	const struct tl_guarded *block = news->block;

	if (news->event == TL_GUARDED_BORN && block)
		born(uninit, block, news->from);
	if (news->event == TL_GUARDED_FREED && block) {
		uninit_forget_block(uninit, news->from->pid, block->address);
		uninit_forget_copies(uninit, news->from->pid, block->address, block->length);
	}
	plan(uninit, news->from->pid);
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct uninit *uninit = state;
	struct word *word = words_find(uninit->words, watch->cookie);

	(void)hits;
	(void)threads;
	if (frames_owns(watch->cookie))
		frames_unwatched(uninit->frames, watch->cookie);
	if (word)
		words_remove(word);
	plan(uninit, watch->pid);
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
	while (maps && proc_line_next(maps, line, sizeof(line)))
		if (sscanf(line, "%llx-%*x r-xp %*x %*s %*u %255s", &start, module) == 2 &&
		    uninit_is_library(module))
			uninit->services->function_name(uninit->host, pid, start + 4096);
	if (maps)
		fclose(maps);
	frames_process_began(uninit->frames, pid);
}

static void on_process_ended(void *state, pid_t pid)
{
	struct uninit *uninit = state;

	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word->origin.pid == pid)
			words_remove(word);
	frames_process_ended(uninit->frames, pid);
}

/* ------------------------------------------------------------------------------------------- */

static void finish(void *state)
{
	struct uninit *uninit = state;

	words_destroy(uninit->words);
	uninit_follow_destroy(uninit->follow);
	frames_destroy(uninit->frames);
	free(uninit->ahead);
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
		return -ENOMEM;
	uninit->host = host;
	uninit->services = services;
	uninit->words = words_create();
	uninit->follow = uninit_follow_create(host, services);
	uninit->frames = frames_create(host, services);
	uninit->ahead = calloc(1, sizeof(*uninit->ahead));
	if (!uninit->words || !uninit->follow || !uninit->frames || !uninit->ahead) {
		finish(uninit);
		return -ENOMEM;
	}
	ahead_begin(uninit->ahead, host, services);
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
	.sample = on_sample,
	.hit = on_hit,
	.unwatched = on_unwatched,
	.exit = finish,
	.process_began = on_process_began,
	.process_ended = on_process_ended,
	.tick = on_tick,
	.slots = UNINIT_SLOTS,
	.wants = TL_WANTS_GUARDS,
	.guarded = on_guarded,
	.counts = uninit_counts,
};
