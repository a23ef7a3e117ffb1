/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap of a process that no library of ours is in.
 *
 * One block at a time, in phases. Each step is taken while the thread that led to it is held, so
 * nothing is missed in between; where it was not held long enough the block is given up.
 *
 * - IDLE.
 * - ASKING: a breakpoint at the entry of free(), or of malloc(), calloc() or realloc(), in all
 *   threads. Who comes first with a block that is wanted decides: free() leads to DYING, the others
 *   to MAKING.
 * - MAKING: a breakpoint where the call returns, in that thread. There the block is known.
 * - LIVE: watches of the word before the block, which is the allocator's, and of bytes behind those
 *   that were asked for. free() reads the word before it does anything.
 * - DYING: a watch of the block's first word. As free() puts the block into a list it writes the
 *   link there.
 * - DEAD: watches of the first word and of another one. The allocator gives the block out again, or
 *   merges it with another one, by a look at the link: that ends it.
 *
 * What the program itself does at these bytes when LIVE or DEAD is an error. It is told if every
 * hit of the watches was told, in every thread, and the chunk looks as it has to in that phase. So
 * a block that an unseen thread has given out again is none of ours. Accepted: a thread that blocks
 * SIGTRAP only after the watches were armed, and takes the block meanwhile.
 */
#include "heap/outside_block.h"
#include "heap/state.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define CONTEXT_MOST 32 /* times that a caller was chosen, at which all counts are halved */
#define CONTEXT_PARTS 4 /* chosen so often: half as likely as before */
#define ENTRY_HITS 8	/* calls that are looked at in one go */
#define RETURN_HITS 4	/* of an instruction to which other calls return, too */
#define ASK_WINDOW 100000000ull
#define MAKE_WINDOW 100000000ull
#define ASKED_MOST (1u << 17) /* bytes: larger blocks are mappings of their own, as a rule */
#define SLOTS_FREED (OUTSIDE_SLOTS - 1)

/* ---- choosing a block ----------------------------------------------------------------------- */

static enum allocator_function draw(struct heap *heap, unsigned slots)
{
	static const uint64_t weight[] = {[ALLOCATOR_MALLOC] = 4,
					  [ALLOCATOR_CALLOC] = 1,
					  [ALLOCATOR_REALLOC] = 1,
					  [ALLOCATOR_FREE] = 6};

	if (slots < OUTSIDE_SLOTS)
		return ALLOCATOR_FREE;
	return (enum allocator_function)random_draw(&heap->random, weight,
						    sizeof(weight) / sizeof(weight[0]));
}

static void ask(struct heap *heap, struct outside *outside)
{
	unsigned slots = heap->services->slots(heap->host, outside->pid);

	if (heap->services->spent(heap->host) > 100)
		return;
	if (slots < SLOTS_FREED) {
		heap->services->log(heap->host,
				    "%u hardware slots at least are needed for programs that run "
				    "already, and this one gets %u: take --slots 4, or no other "
				    "tool beside it",
				    SLOTS_FREED, slots);
		outside->able = false;
		return;
	}
	outside->asked = draw(heap, slots);
	if (!outside_place(heap, outside, OUTSIDE_ENTRY,
			   &(struct tl_watch){.address = outside->allocator.entry[outside->asked],
					      .length = OUTSIDE_WORD,
					      .access = TL_EXEC,
					      .hits = ENTRY_HITS,
					      .window = ASK_WINDOW}))
		return;
	outside_count(heap, "heap-outside-asked");
	outside->phase = OUTSIDE_ASKING;
	outside->until = clock_now() + 2 * ASK_WINDOW;
}

/* Blocks of a caller that were chosen often are chosen less, so that busy ones are not all. */
static bool is_passed_by(struct heap *heap, struct outside *outside,
			 const struct outside_seen *seen)
{
	uint64_t hash = (seen->frames[1].pc ^ (seen->count > 2 ? seen->frames[2].pc << 20 : 0)) *
			0x9e3779b97f4a7c15ull;
	uint8_t *chosen = &outside->chosen[(hash >> 32) % OUTSIDE_CONTEXTS];

	if (random_next(&heap->random) % (1 + *chosen / CONTEXT_PARTS))
		return true;
	if (++*chosen == CONTEXT_MOST)
		for (unsigned i = 0; i < OUTSIDE_CONTEXTS; i++)
			outside->chosen[i] /= 2;
	return false;
}

/* Before the first instruction of free(). */
static void begin_death(struct heap *heap, struct outside *outside, const struct outside_seen *seen)
{
	uint64_t block = seen->access->registers->general[OUTSIDE_FIRST];

	if (!chunk_read(heap, outside->pid, block, &outside->chunk) || outside->chunk.binned) {
		outside_count(heap, "heap-outside-unsuited");
		return;
	}
	outside_drop(heap, outside, OUTSIDE_ENTRY);
	outside->address = block;
	outside->length = chunk_usable(&outside->chunk);
	outside->made = (struct outside_moment){0};
	outside->freer = seen->access->identity;
	outside_note_moment(&outside->freed, seen);
	outside_go_on(heap, outside,
		      outside_place_data(heap, outside, OUTSIDE_LINK, block, OUTSIDE_WORD),
		      OUTSIDE_DYING, OUTSIDE_DIE_WINDOW);
}

static uint64_t asked_length(enum allocator_function function, const struct tl_registers *registers)
{
	uint64_t first = registers->general[OUTSIDE_FIRST],
		 second = registers->general[OUTSIDE_SECOND], product;

	switch (function) {
	case ALLOCATOR_CALLOC:
		return __builtin_mul_overflow(first, second, &product) ? 0 : product;
	case ALLOCATOR_REALLOC:
		return second;
	default:
		return first;
	}
}

/* Before the first instruction of a function that allocates. */
static void begin_making(struct heap *heap, struct outside *outside,
			 const struct outside_seen *seen)
{
	uint64_t length = asked_length(outside->asked, seen->access->registers);
	bool placed;

	if (!length || length > ASKED_MOST || !seen->access->tid) {
		outside_count(heap, "heap-outside-unsuited");
		return;
	}
	outside_drop(heap, outside, OUTSIDE_ENTRY);
	outside->length = length;
	outside->frame = seen->access->registers->general[OUTSIDE_STACK] + OUTSIDE_WORD;
	outside_note_moment(&outside->made, seen);
	outside->freed = (struct outside_moment){0};
	placed = outside_place(heap, outside, OUTSIDE_RETURN,
			       &(struct tl_watch){.address = seen->frames[1].pc,
						  .length = OUTSIDE_WORD,
						  .access = TL_EXEC,
						  .hits = RETURN_HITS,
						  .tid = seen->access->tid,
						  .window = MAKE_WINDOW});
	outside_go_on(heap, outside, placed, OUTSIDE_MAKING, 2 * MAKE_WINDOW);
}

static void at_entry(struct heap *heap, struct outside *outside, struct outside_seen *seen)
{
	/* Of threads that come together all go on when the first one was answered. */
	if (outside->phase != OUTSIDE_ASKING || seen->count < 2 ||
	    !heap->services->held(heap->host) || is_passed_by(heap, outside, seen))
		return;
	outside->serial++;
	if (outside->asked == ALLOCATOR_FREE)
		begin_death(heap, outside, seen);
	else
		begin_making(heap, outside, seen);
}

/* Bytes behind those that were asked for, from the first one on, as many as one watch takes, or the
 * whole word that follows. */
static bool watch_behind(struct heap *heap, struct outside *outside)
{
	uint64_t end = outside->address + outside->length;
	uint64_t next = (end + OUTSIDE_WORD - 1) & ~(uint64_t)(OUTSIDE_WORD - 1);
	unsigned length = end % OUTSIDE_WORD ? (unsigned)(end & -end) : OUTSIDE_WORD;

	/* The last word is the next chunk's own size. */
	if (length < OUTSIDE_WORD && next < outside->address + outside->chunk.size &&
	    random_next(&heap->random) & 1)
		return outside_place_data(heap, outside, OUTSIDE_OTHER, next, OUTSIDE_WORD);
	return outside_place_data(heap, outside, OUTSIDE_OTHER, end, length);
}

static void at_return(struct heap *heap, struct outside *outside, const struct tl_access *access)
{
	bool placed;

	if (outside->phase != OUTSIDE_MAKING ||
	    access->registers->general[OUTSIDE_STACK] != outside->frame)
		return;
	outside_drop(heap, outside, OUTSIDE_RETURN);
	outside->address = access->registers->general[OUTSIDE_RESULT];
	if (!chunk_read(heap, outside->pid, outside->address, &outside->chunk) ||
	    !chunk_suits(&outside->chunk, outside->length)) {
		outside_give_up(heap, outside, "heap-outside-unsuited");
		return;
	}
	outside->made.time = access->time;
	placed = outside_place_data(heap, outside, OUTSIDE_HEADER, outside->address - OUTSIDE_WORD,
				    OUTSIDE_WORD) &&
		 watch_behind(heap, outside);
	if (outside_go_on(heap, outside, placed, OUTSIDE_LIVE, outside_watch_time(heap)))
		outside_count(heap, "heap-outside-live");
}

/* ---- from the tool -------------------------------------------------------------------------- */

static struct outside *find(const struct heap *heap, uint64_t cookie, enum outside_role *role)
{
	for (struct outside *outside = heap->outside; outside && cookie; outside = outside->next)
		for (unsigned i = 0; i < OUTSIDE_ROLES; i++)
			if (outside->cookie[i] == cookie) {
				*role = (enum outside_role)i;
				return outside;
			}
	return NULL;
}

void outside_hit(struct heap *heap, const struct tl_access *access)
{
	static struct outside_seen seen; /* callbacks run in one thread; large */
	enum outside_role role;
	struct outside *outside = find(heap, access->cookie, &role);

	if (!outside)
		return;
	seen.access = access;
	seen.count = heap->services->unwind(heap->host, access, seen.frames, OUTSIDE_FRAMES);
	if (role >= OUTSIDE_HEADER)
		outside_at_block(heap, outside, role, &seen);
	else if (!access->registers)
		return;
	else if (role == OUTSIDE_ENTRY)
		at_entry(heap, outside, &seen);
	else
		at_return(heap, outside, access);
}

void outside_unwatched(struct heap *heap, uint64_t cookie)
{
	enum outside_role role;
	struct outside *outside = find(heap, cookie, &role);

	if (!outside)
		return;
	outside->cookie[role] = 0;
	if (role >= OUTSIDE_HEADER)
		outside_count(heap, "heap-outside-ended");
	outside_rest(heap, outside);
}

void outside_began(struct heap *heap, pid_t pid)
{
	struct outside *outside = calloc(1, sizeof(*outside));

	if (!outside)
		return;
	outside->pid = pid;
	outside->next = heap->outside;
	heap->outside = outside;
}

void outside_ended(struct heap *heap, pid_t pid)
{
	for (struct outside **at = &heap->outside; *at; at = &(*at)->next) {
		struct outside *outside = *at;

		if (outside->pid != pid)
			continue;
		for (unsigned role = 0; role < OUTSIDE_ROLES; role++)
			outside_drop(heap, outside, (enum outside_role)role);
		*at = outside->next;
		free(outside);
		return;
	}
}

void outside_tick(struct heap *heap)
{
	uint64_t now = clock_now();

	for (struct outside *outside = heap->outside; outside; outside = outside->next) {
		/* Not as it began: reading symbols may take long, and it would wait. */
		if (!outside->sought)
			outside->able = allocator_find(heap, outside->pid, &outside->allocator);
		outside->sought = true;
		if (!outside->able || now < outside->until)
			continue;
		if (outside->phase != OUTSIDE_IDLE)
			outside_rest(heap, outside);
		else
			ask(heap, outside);
	}
}

void outside_stop(struct heap *heap)
{
	while (heap->outside) {
		struct outside *outside = heap->outside;

		heap->outside = outside->next;
		free(outside);
	}
}
