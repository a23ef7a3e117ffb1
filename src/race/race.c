/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the sampled accesses to watch, and what to say of the pairs that come of it.
 *
 * Interest in an access falls with the number of times its instruction has been watched and rises
 * when different threads were seen at its address. What is remembered stands in tables of fixed
 * size, where a new entry takes the place of an old one.
 */
#include "race/race.h"

#include "race/counts.h"
#include "race/facts.h"
#include "race/library.h"
#include "race/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 8192	/* instructions remembered */
#define BLOCKS 8192	/* addresses remembered */
#define REPEAT_LOOKS 12 /* looks that finding the same race again counts for */
#define PAIRS 4096	/* pairs of instructions remembered */
#define ENTRY_FRAMES 24 /* innermost frames in which the call into the C library is looked for */
#define LIBRARY_PARTS 4 /* divides the interest in an access that the C library makes */

struct place {
	uint64_t pc;
	/* times it was watched, as what a sample was about to do or for being executed */
	uint32_t watched;
	uint32_t shared;   /* times that another thread came to what it accesses */
	uint32_t fruitful; /* pairs that it was part of when they were first shown */
	uint32_t repeats;  /* pairs seen again */
	/* it is an atomic operation, although its instruction does not show that */
	bool atomic;
	bool judged;   /* `internal` and `library` are known */
	bool internal; /* it is libc's own code */
	/* it is code of libc, except what copies, compares and searches memory */
	bool library;
};

struct block {
	uint64_t address;  /* of 8 bytes */
	uint64_t identity; /* identity of the thread seen last */
	uint64_t hitter;   /* identity of the thread that made the last hit */
	uint64_t pc;	   /* of that hit */
	unsigned access;   /* of that hit */
	uint32_t watched;
	bool shared;
	bool library; /* a pair here was the C library's own matter */
};

struct known_pair {
	uint64_t first, second; /* pcs, or those of the calls into the C library; lower first */
	enum tl_certainty certainty;
	uint64_t count;
};

struct race {
	struct tl_host *host;
	const struct tl_services *services;
	struct place place[PLACES];
	struct block block[BLOCKS];
	struct known_pair pair[PAIRS];
	uint64_t random;
};

static uint64_t mix(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15ull;
	return value ^ value >> 32;
}

static struct place *find_place(struct race *race, uint64_t pc)
{
	struct place *place = &race->place[mix(pc) % PLACES];

	if (place->pc != pc)
		*place = (struct place){.pc = pc};
	return place;
}

static struct block *find_block(struct race *race, uint64_t address)
{
	struct block *block = &race->block[mix(address & ~7ull) % BLOCKS];

	if (block->address != (address & ~7ull))
		*block = (struct block){.address = address & ~7ull};
	return block;
}

static struct rule_code describe(struct race *race, pid_t pid, uint64_t pc)
{
	struct tl_frame frames[8];
	int count = race->services->symbolise(race->host, pid, pc, frames, 8);

	if (count <= 0)
		return (struct rule_code){0};
	return (struct rule_code){frames[0].module, frames[count - 1].function};
}

static void judge_place(struct race *race, const struct tl_access *access, struct place *place)
{
	struct rule_code code = {0};

	if (place->judged)
		return;
	/* Symbol tables alone are asked: reading debug information, such as the C library's,
	 * takes longer than some programs run. */
	code.module = race->services->module(race->host, access->pid, access->pc);
	if (code.module && library_is(code.module))
		code.function = race->services->function_name(race->host, access->pid, access->pc);
	place->internal = rules_is_libc_internal(&code) && !library_is_handed(code.function) &&
			  !library_hands_back(code.function);
	place->library = code.module && library_is(code.module) &&
			 !library_is_string(code.function);
	place->judged = true;
}

/* An access by the C library to its own data is judged by who else comes there from elsewhere. */
static bool is_internal(struct race *race, const struct tl_access *access, struct place *place)
{
	const char *memory;

	judge_place(race, access, place);
	if (place->internal || !place->library)
		return place->internal;
	memory = race->services->module(race->host, access->pid, access->address);
	return memory && library_is(memory);
}

/* Length of the largest aligned piece, of at most 8 bytes, that holds the access's first byte. */
static unsigned watch_length(const struct tl_access *access)
{
	unsigned length = 8;

	while (length > access->length || access->address % length)
		length /= 2;
	return length;
}

static unsigned priority(const struct place *place, const struct block *block,
			 const struct tl_access *access)
{
	unsigned interest = 64;

	interest >>= place->watched < 5 ? place->watched : 5;
	if (block->shared)
		interest += 32;
	if (!block->watched)
		interest += 8;
	if (access->access & TL_ATOMIC)
		interest /= 8;
	if (place->library)
		interest /= LIBRARY_PARTS;
	return interest + 1;
}

static void on_sample(void *state, const struct tl_access *access)
{
	struct race *race = state;
	struct place *place = find_place(race, access->pc);
	struct block *block = find_block(race, access->address);
	struct tl_watch watch = {.size = sizeof(watch), .pid = access->pid};

	if (access->traits & TL_TRAIT_STACK || is_internal(race, access, place) ||
	    (place->library && block->library))
		return;
	if (block->identity && block->identity != access->identity)
		block->shared = true;
	block->identity = access->identity;
	watch.length = watch_length(access);
	watch.address = access->address;
	race->random = race->random * 6364136223846793005ull + 1442695040888963407ull;
	if (access->access == TL_READ || race->random >> 63) {
		watch.access = TL_WRITE;
		watch.widen = true;
	} else {
		watch.access = TL_READ | TL_WRITE;
	}
	watch.priority = priority(place, block, access);
	if (race->services->watch(race->host, &watch) == 0) {
		place->watched++;
		block->watched++;
	}
}

static void note_shared(struct race *race, uint64_t pc)
{
	find_place(race, pc)->shared++;
}

/* Does it conflict with what is remembered of other accesses there, whenever they were made? */
static void on_hit(void *state, const struct tl_access *access)
{
	struct race *race = state;
	struct block *block = find_block(race, access->address);

	if (block->hitter && block->hitter != access->identity &&
	    ((access->access | block->access) & TL_WRITE) &&
	    !(access->access & block->access & TL_ATOMIC)) {
		note_shared(race, access->pc);
		note_shared(race, block->pc);
		block->shared = true;
	}
	block->hitter = access->identity;
	block->pc = access->pc;
	block->access = access->access;
}

/* New code comes first. An instruction whose memory other threads came to stays worth a look:
 * more so when a pair came of it, and less with each look that found none. An atomic operation
 * is worth nothing, since what it races with is a plain access, which is looked at for itself. */
static unsigned on_interest(void *state, pid_t pid, uint64_t pc)
{
	struct race *race = state;
	const struct place *place = &race->place[mix(pc) % PLACES];
	uint32_t looks;
	unsigned interest;

	(void)pid;
	if (place->pc != pc)
		return 32;
	if (place->atomic)
		return 0;
	looks = (place->watched + REPEAT_LOOKS * place->repeats) / (1 + 2 * place->fruitful) / 6;
	interest = place->shared ? 96 >> (looks < 6 ? looks : 6)
				 : 32 >> (place->watched < 5 ? place->watched : 5);
	return interest ? interest : 1;
}

/* Two threads met the watch at different times: the instruction is worth another look, less each
 * time. */
static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct race *race = state;
	struct block *block = find_block(race, watch->address);
	struct tl_watch again = *watch;

	if (watch->access & TL_EXEC)
		find_place(race, watch->address)->watched++;
	if ((watch->access & TL_EXEC) || threads < 2 || !hits)
		return;
	block->shared = true;
	if (block->watched > 64)
		return;
	block->watched++;
	again.priority = 48 - (block->watched < 40 ? block->watched : 40);
	again.hold = again.window = 0;
	race->services->watch(race->host, &again);
}

static struct known_pair *find_pair(struct race *race, uint64_t first, uint64_t second)
{
	struct known_pair *known;

	if (first > second) {
		uint64_t swapped = first;

		first = second;
		second = swapped;
	}
	known = &race->pair[mix(first ^ mix(second)) % PAIRS];
	if (known->first != first || known->second != second)
		*known = (struct known_pair){.first = first, .second = second};
	return known;
}

/* The outermost of the C library's frames on top of the stack: the function that the program
 * called. `*place` receives the address of that call. */
static const char *entry_of(struct race *race, const struct tl_access *access, uint64_t *place)
{
	struct tl_frame frames[ENTRY_FRAMES];
	int count = race->services->stack(race->host, access, frames, ENTRY_FRAMES);
	const char *entry = NULL;
	int i;

	for (i = 0; i < count && frames[i].module && library_is(frames[i].module); i++)
		entry = frames[i].function;
	if (i < count)
		*place = frames[i].pc;
	return entry;
}

/* `*place` receives the code address at which the access is told. */
static struct rule_side side_of(struct race *race, const struct tl_access *access, uint64_t *place)
{
	struct rule_side side = {.access = access};

	*place = access->pc;
	side.code = describe(race, access->pid, access->pc);
	if (side.code.module && library_is(side.code.module))
		side.code.entry = entry_of(race, access, place);
	side.atomicity = race->services->atomicity(race->host, access, &side.reason);
	find_place(race, access->pc)->atomic |= side.atomicity == TL_ATOMICITY_ATOMIC;
	if (access->traits & TL_TRAIT_UPDATE)
		side.updates_tell =
			race->services->keeps_atomics_apart(race->host, access->pid, access->pc);
	return side;
}

static void on_pair(void *state, const struct tl_pair *pair)
{
	struct race *race = state;
	uint64_t place[2];
	struct rule_side first = side_of(race, pair->first, &place[0]);
	struct rule_side second = side_of(race, pair->second, &place[1]);
	struct known_pair *known = find_pair(race, place[0], place[1]);
	const struct tl_access *accesses[2] = {pair->first, pair->second};
	struct tl_report report = {.size = sizeof(report), .kind = "data-race"};
	struct rule_meeting meeting = {.changed = pair->changed,
				       .first_seen = pair->first_seen,
				       .second_seen = pair->second_seen};
	struct verdict verdict;
	uint32_t facts[2];

	meeting.memory = race->services->module(race->host, pair->first->pid, pair->first->address);
	rules_judge(&first, &second, &meeting, &verdict);
	if (verdict.hidden) {
		race->services->count(race->host, verdict.rule, 1);
		if (first.code.entry && second.code.entry)
			find_block(race, pair->first->address)->library = true;
		return;
	}
	if (known->count++) {
		find_place(race, pair->first->pc)->repeats++;
		find_place(race, pair->second->pc)->repeats++;
	}
	/* Each report silences all slots while symbols are read, so repeats are counted in bulk. */
	if (verdict.certainty <= known->certainty && (known->count & (known->count - 1))) {
		race->services->count(race->host, "repeats", 1);
		return;
	}
	known->certainty = verdict.certainty;
	first.around = race->services->around(race->host, pair->first);
	second.around = race->services->around(race->host, pair->second);
	rules_rank(&first, &second, &verdict);
	find_place(race, pair->first->pc)->fruitful++;
	find_place(race, pair->second->pc)->fruitful++;
	report.certainty = verdict.certainty;
	report.rank = verdict.rank;
	facts_of(&first, &second, &meeting, facts);
	report.facts = facts;
	report.evidence = verdict.evidence;
	report.evidence_count = verdict.evidence_count;
	report.accesses = accesses;
	report.access_count = 2;
	report.strategy = pair->strategy;
	race->services->report(race->host, &report);
}

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct race *race = calloc(1, sizeof(*race));

	if (!race)
		return -ENOMEM;
	race->host = host;
	race->services = services;
	*state = race;
	return 0;
}

static void finish(void *state)
{
	free(state);
}

const struct tl_tool race_tool = {
	.size = sizeof(race_tool),
	.version = TL_TOOL_VERSION,
	.name = "race",
	.summary = "find data races",
	.start = start,
	.sample = on_sample,
	.hit = on_hit,
	.pair = on_pair,
	.unwatched = on_unwatched,
	.exit = finish,
	.interest = on_interest,
	.counts = race_counts,
};
