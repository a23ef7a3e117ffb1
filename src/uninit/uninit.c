/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callbacks. A block's birth is told while its thread is held in the allocator, and from then
 * on some of its words are watched for reads and writes. A store takes its bytes from those that
 * nobody has written. At a load of such bytes the value is followed from where the thread is held
 * (follow.h), and what depends on it says how certain the finding is. Where the value is only
 * copied, the copy is watched in turn. Frames of functions that are being entered are treated like
 * blocks (frames.h).
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

/* So many first blocks of a context have a prediction, or with --all so many, since one of many in
 * a test suite may go another way; and after these one in PREDICTED_AGAIN. */
#define PREDICTED_FIRST 4
#define PREDICTED_ALL 64
#define PREDICTED_AGAIN 4
/* Bytes that a repeated string instruction may have written before the element that is told. */
#define STRING_BEFORE 64u
/* Bytes of freed blocks that are kept from the program; this tool needs none. */
#define MEMORY (4u << 20)

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
 * Is the block's use predicted? A prediction takes up to a millisecond and may go wrong the same
 * way for each block of a context, so only some of them have one. A block of one word leaves
 * nothing to choose, but where the kernel's writes are not told the prediction may still show that
 * there are none.
 */
static bool is_predicted(struct uninit *uninit, const struct origin *origin)
{
	unsigned births = words_birth(uninit->words, origin->context);

	return !origin->yields &&
	       (origin->length > WORD_LENGTH || !tool_kernel_told(uninit->host)) &&
	       (births < (frames_in_order(uninit->frames) ? PREDICTED_ALL : PREDICTED_FIRST) ||
		births % PREDICTED_AGAIN == 0);
}

/* Watches the words that the thread will load before it has stored to them. Returns how many. */
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

/* Was the block made by the C library for itself, or before the program began? */
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

	/* A block that stood there before has been freed, even if that was not told. */
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
 * A thread is held before a function's first instruction. The slot that it has hit stays in use
 * until this returns, so one slot less is to be had; in the order of calls one more is kept for the
 * next function.
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

/* In the order of calls: uses slots that have become free for the next function. */
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

/* The copy has been made: what the word holds now is what later loads should find. */
static void copy_made(struct uninit *uninit, struct word *word)
{
	word->pending = false;
	word->initial =
		uninit_read_word(uninit, word->origin.pid, word->address, &word->initial_known);
}

/* A bit-field was written, and its neighbours in the word are still unwritten: later loads should
 * find the word as it is now. */
static void updated(struct uninit *uninit, struct word *word)
{
	uninit_count(uninit, "words-updated");
	word->initial =
		uninit_read_word(uninit, word->origin.pid, word->address, &word->initial_known);
}

/* Notes a store in every watched word that it touches. Of several words that one instruction stores
 * to only one need be told, since signals that come at the same time are lost. A repeated string
 * instruction may write a cache line at a time, of which one element is told. */
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
		/* A system call has written there, and not the copy that is awaited. */
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

/* Is the store a push that means nothing (alignment.h)? Then the frame's word has another value
 * from then on, and still nobody has written it. */
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

/* A system call mostly writes to several words, and of several signals at once only one arrives.
 * Where it is not known how much was written, nothing is known of the block's other words any more.
 */
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

/* Counts, for the other words that the instruction has touched, a hit that was not told: signals
 * that come while the first one is pending are lost. */
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

/* Handles a load for every word that it touches, of which one is told. Where a string function has
 * tripped a word behind what it was asked about, the other words count by what it was asked about.
 */
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
 * Settles which bytes were loaded, where attribution has left that open. A store by another thread
 * to this word would be told itself; accepted: one that has just stored next to the word may make
 * the loaded value appear at another place. False: there is nothing to settle, or the access stays
 * a guess.
 */
static bool settle_load(struct uninit *uninit, const struct tl_access *access,
			const struct word *word, struct tl_access *settled)
{
	if (access->access & (TL_WRITE | TL_LATE))
		return false;
	if (access->traits & TL_TRAIT_REALIGNED) {
		*settled = *access;
		settled->address = access->loaded_from;
		settled->value_known = false; /* the value that is told is of the other address */
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
	/* An instruction that updates memory was handled as a load first; now as a store. */
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
 * Has the names of the C library's functions read while the process waits at its beginning: later a
 * thread would be held for as long as that takes.
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
