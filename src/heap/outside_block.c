/* SPDX-License-Identifier: Apache-2.0 */
/* A block in a process that no library of ours is in, from the moment that it is known: outside.c.
 */
#include "heap/outside_block.h"

#include "heap/judge.h"
#include "heap/place.h"
#include "heap/say.h"
#include "heap/state.h"

#include "base/clock.h"

#define BLOCK_HITS 64		/* at a block: its allocator's, mostly */
#define HOLD 20000000ull	/* ns at most, while hit() arms watches: 0.1 ms as a rule */
#define WATCH_LEAST 50000000ull /* ns: a block is watched for this, or up to … */
#define WATCH_DOUBLES 6		/* … so many doublings of it */
#define PAUSE 2000000ull	/* ns between two blocks */
#define BUDGET_LEFT 80		/* percent spent: above, the next block waits for a tick */
#define WORDS_FIRST 16u		/* of a block, that are watched more often than later ones */

void outside_count(const struct heap *heap, const char *name)
{
	heap->services->count(heap->host, name, 1);
}

/* ---- watches -------------------------------------------------------------------------------- */

void outside_drop(struct heap *heap, struct outside *outside, enum outside_role role)
{
	if (outside->cookie[role])
		heap->services->disarm(heap->host, outside->cookie[role]);
	outside->cookie[role] = 0;
}

bool outside_place(struct heap *heap, struct outside *outside, enum outside_role role,
		   const struct tl_watch *wanted)
{
	struct tl_watch watch = *wanted;

	outside_drop(heap, outside, role);
	watch.size = sizeof(watch);
	watch.pid = outside->pid;
	watch.hold = HOLD;
	watch.cookie = ++heap->last_cookie;
	if (heap->services->arm(heap->host, &watch))
		return false;
	outside->cookie[role] = watch.cookie;
	return true;
}

bool outside_place_data(struct heap *heap, struct outside *outside, enum outside_role role,
			uint64_t address, unsigned length)
{
	return outside_place(heap, outside, role,
			     &(struct tl_watch){.address = address,
						.length = length,
						.access = TL_READ | TL_WRITE,
						.hits = BLOCK_HITS});
}

void outside_rest(struct heap *heap, struct outside *outside)
{
	for (unsigned role = 0; role < OUTSIDE_ROLES; role++)
		outside_drop(heap, outside, (enum outside_role)role);
	outside->phase = OUTSIDE_IDLE;
	outside->until = clock_now() + PAUSE;
	if (heap->services->spent(heap->host) < BUDGET_LEFT)
		heap->services->wake(heap->host);
}

void outside_give_up(struct heap *heap, struct outside *outside, const char *why)
{
	outside_count(heap, why);
	outside_rest(heap, outside);
}

static void enter(struct outside *outside, enum outside_phase phase, uint64_t time)
{
	outside->phase = phase;
	outside->until = clock_now() + time;
}

bool outside_go_on(struct heap *heap, struct outside *outside, bool placed,
		   enum outside_phase phase, uint64_t time)
{
	if (!placed)
		outside_give_up(heap, outside, "heap-outside-refused");
	else if (!heap->services->held(heap->host))
		outside_give_up(heap, outside, "heap-outside-late");
	else
		enter(outside, phase, time);
	return outside->phase == phase;
}

uint64_t outside_watch_time(struct heap *heap)
{
	return WATCH_LEAST << random_next(&heap->random) % (WATCH_DOUBLES + 1);
}

/* The caller's call comes first, then return addresses. */
void outside_note_moment(struct outside_moment *moment, const struct outside_seen *seen)
{
	*moment = (struct outside_moment){.time = seen->access->time, .tid = seen->access->tid};
	for (int i = 1; i < seen->count; i++)
		moment->pcs[moment->count++] = seen->frames[i].pc - (i == 1);
}

/* ---- what the program does ------------------------------------------------------------------ */

static struct tl_moment moment_of(const struct outside_moment *moment)
{
	return (struct tl_moment){.time = moment->time,
				  .tid = moment->tid,
				  .pcs = moment->pcs,
				  .count = moment->count};
}

static struct tl_guarded block_of(const struct outside *outside)
{
	return (struct tl_guarded){.size = sizeof(struct tl_guarded),
				   .pid = outside->pid,
				   .serial = outside->serial,
				   .address = outside->address,
				   .length = outside->length,
				   .front = outside->address - OUTSIDE_WORD,
				   .back = outside->address + outside->chunk.size,
				   .freed = outside->phase == OUTSIDE_DEAD,
				   .made = moment_of(&outside->made),
				   .ended = moment_of(&outside->freed)};
}

/* A chunk in a bin says so by the next one's flag. One in a list of blocks of its size, of the
 * thread's or the arena's, is as it was; so is one that has been in a bin and was given out again.
 */
static bool is_as_it_was(const struct heap *heap, const struct outside *outside)
{
	struct chunk chunk;

	if (!chunk_read(heap, outside->pid, outside->address, &chunk))
		return false;
	if (outside->phase == OUTSIDE_DEAD && chunk.binned)
		return true;
	return chunk.size == outside->chunk.size && !chunk.binned && !outside->binned;
}

static bool is_certain(const struct heap *heap, const struct outside *outside)
{
	for (unsigned role = OUTSIDE_HEADER; role < OUTSIDE_ROLES; role++)
		if (outside->cookie[role] &&
		    !heap->services->unbroken(heap->host, outside->pid, outside->cookie[role]))
			return false;
	return is_as_it_was(heap, outside);
}

static void accuse(struct heap *heap, struct outside *outside, const struct outside_seen *seen)
{
	struct tl_guarded block = block_of(outside);
	struct tl_access access = *seen->access;
	struct heap_verdict verdict;

	if (!is_certain(heap, outside)) {
		outside_give_up(heap, outside, "heap-outside-uncertain");
		return;
	}
	place_call(heap, &block, &access);
	verdict = heap_judge_access(heap, &block, &access, false);
	if (verdict.kind == HEAP_NO_ERROR)
		return;
	say_access(heap, &block, &access, &verdict, STRATEGY_WATCH);
	outside_rest(heap, outside);
}

/* free() looks at the word before the block that it is given before it does anything else. */
static bool is_free_of(const struct outside *outside, const struct outside_seen *seen)
{
	return seen->by.through == ALLOCATOR_FREE && seen->by.direct &&
	       seen->access->registers->general[OUTSIDE_FIRST] == outside->address;
}

static void while_live(struct heap *heap, struct outside *outside, enum outside_role role,
		       const struct outside_seen *seen)
{
	if (seen->by.author == AUTHOR_PROGRAM) {
		accuse(heap, outside, seen);
	} else if (role == OUTSIDE_HEADER && is_free_of(outside, seen)) {
		outside->free_reads_at = seen->access->pc;
		outside->freer = seen->access->identity;
		outside_note_moment(&outside->freed, seen);
		outside_go_on(heap, outside,
			      outside_place_data(heap, outside, OUTSIDE_LINK, outside->address,
						 OUTSIDE_WORD),
			      OUTSIDE_DYING, OUTSIDE_DIE_WINDOW);
	} else {
		/* It becomes longer, is asked for its size, or one beside it is freed. */
		outside_give_up(heap, outside, "heap-outside-changed");
	}
}

/* The second word takes a mark of the allocator's; any other one is the program's alone. */
static uint64_t draw_word(struct heap *heap, const struct outside *outside)
{
	uint64_t words = chunk_usable(&outside->chunk) / OUTSIDE_WORD;
	uint64_t random = random_next(&heap->random);

	if (words > WORDS_FIRST && random % 4)
		words = WORDS_FIRST;
	return outside->address + (1 + (random >> 8) % (words - 1)) * OUTSIDE_WORD;
}

static void die(struct heap *heap, struct outside *outside, const struct outside_seen *seen)
{
	struct chunk chunk;

	/* Its own size is not written yet where it has just been merged with the next one. */
	if (!chunk_read(heap, outside->pid, outside->address, &chunk)) {
		outside_give_up(heap, outside, "heap-outside-unsuited");
		return;
	}
	outside->binned = chunk.binned;
	outside->freed.time = seen->access->time;
	outside_drop(heap, outside, OUTSIDE_OTHER);
	outside_place_data(heap, outside, OUTSIDE_OTHER, draw_word(heap, outside), OUTSIDE_WORD);
	if (heap->services->slots(heap->host, outside->pid) >= OUTSIDE_SLOTS &&
	    !outside->cookie[OUTSIDE_HEADER])
		outside_place_data(heap, outside, OUTSIDE_HEADER, outside->address - OUTSIDE_WORD,
				   OUTSIDE_WORD);
	outside_count(heap, "heap-outside-freed");
	enter(outside, OUTSIDE_DEAD, outside_watch_time(heap));
}

static bool is_of_its_free(const struct outside *outside, const struct outside_seen *seen)
{
	return seen->by.author == AUTHOR_ALLOCATOR && seen->by.through == ALLOCATOR_FREE &&
	       seen->access->identity == outside->freer && seen->access->access & TL_WRITE;
}

static void while_dying(struct heap *heap, struct outside *outside, enum outside_role role,
			const struct outside_seen *seen)
{
	if (role != OUTSIDE_LINK || seen->by.author == AUTHOR_PROGRAM)
		return;
	if (!is_of_its_free(outside, seen))
		outside_give_up(heap, outside, "heap-outside-changed");
	/* A link is written whole; blocks are filled byte by byte, or by more at a time. */
	else if (seen->access->length >= OUTSIDE_WORD &&
		 !chunk_is_filled(heap, outside->pid, outside->address))
		die(heap, outside, seen);
}

static void say_freed_again(struct heap *heap, struct outside *outside,
			    const struct outside_seen *seen)
{
	struct tl_guarded block = block_of(outside);
	struct tl_guarded_news news = {.size = sizeof(news),
				       .event = TL_GUARDED_FREED_TWICE,
				       .block = &block,
				       .from = seen->access,
				       .address = outside->address};

	if (is_certain(heap, outside))
		say_call(heap, &news, TL_DEFINITE, NULL);
	outside_rest(heap, outside);
}

static void while_dead(struct heap *heap, struct outside *outside, enum outside_role role,
		       const struct outside_seen *seen)
{
	if (role == OUTSIDE_HEADER) {
		if (is_free_of(outside, seen) && seen->access->pc == outside->free_reads_at)
			say_freed_again(heap, outside, seen);
	} else if (seen->by.author == AUTHOR_PROGRAM) {
		accuse(heap, outside, seen);
	} else if (role == OUTSIDE_LINK || !is_of_its_free(outside, seen)) {
		outside_give_up(heap, outside, "heap-outside-reused");
	}
}

void outside_at_block(struct heap *heap, struct outside *outside, enum outside_role role,
		      struct outside_seen *seen)
{
	/* Of what came late it is not known when it was. */
	if (seen->access->access & TL_LATE || !seen->access->registers || !seen->count) {
		outside_give_up(heap, outside, "heap-outside-unknown");
		return;
	}
	seen->by = allocator_author(heap, &outside->allocator, outside->pid, seen->frames,
				    seen->count);
	if (outside->phase == OUTSIDE_LIVE)
		while_live(heap, outside, role, seen);
	else if (outside->phase == OUTSIDE_DYING)
		while_dying(heap, outside, role, seen);
	else if (outside->phase == OUTSIDE_DEAD)
		while_dead(heap, outside, role, seen);
}
