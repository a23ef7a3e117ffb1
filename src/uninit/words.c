/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/words.h"

#include <stdlib.h>
#include <string.h>

#define CONTEXTS 4096 /* remembered; a context with the same place in the table takes it over */

struct context {
	uint64_t key;
	uint32_t turns, births;
};

struct words {
	struct word word[WORDS_MAX];
	struct context context[CONTEXTS];
	uint64_t cookies;
};

struct words *words_create(void)
{
	return calloc(1, sizeof(struct words));
}

void words_destroy(struct words *words)
{
	free(words);
}

struct word *words_find(struct words *words, uint64_t cookie)
{
	for (unsigned i = 0; cookie && i < WORDS_MAX; i++)
		if (words->word[i].cookie == cookie)
			return &words->word[i];
	return NULL;
}

struct word *words_next(struct words *words, struct word *after)
{
	for (unsigned i = after ? (unsigned)(after - words->word) + 1 : 0; i < WORDS_MAX; i++)
		if (words->word[i].cookie)
			return &words->word[i];
	return NULL;
}

unsigned words_count(const struct words *words, pid_t pid)
{
	unsigned count = 0;

	for (unsigned i = 0; i < WORDS_MAX; i++)
		count += words->word[i].cookie && words->word[i].origin.pid == pid;
	return count;
}

static bool is_of_block(const struct word *word, pid_t pid, uint64_t address)
{
	return word->cookie && !word->copied && word->origin.pid == pid &&
	       word->origin.address == address;
}

static unsigned count_of_block(const struct words *words, pid_t pid, uint64_t address)
{
	unsigned count = 0;

	for (unsigned i = 0; i < WORDS_MAX; i++)
		count += is_of_block(&words->word[i], pid, address);
	return count;
}

/* Of two words of one block, does `word` give way first? Those that are not predicted to be loaded
 * do, and of these the one that was watched last. */
static bool goes_before(const struct word *word, const struct word *other)
{
	return !other || word->predicted < other->predicted ||
	       (word->predicted == other->predicted && word->since >= other->since);
}

struct word *words_spare(struct words *words, const struct origin *origin)
{
	unsigned most = count_of_block(words, origin->pid, origin->address) + 1;
	struct word *spare = NULL;

	if (most < 2)
		most = 2;
	for (unsigned i = 0; i < WORDS_MAX; i++) {
		struct word *word = &words->word[i];
		unsigned count = 0;

		if (is_of_block(word, origin->pid, word->origin.address))
			count = count_of_block(words, origin->pid, word->origin.address);
		if (count > most || (count == most && goes_before(word, spare))) {
			most = count;
			spare = word;
		}
	}
	return spare;
}

struct word *words_add(struct words *words, const struct origin *origin, uint64_t address)
{
	for (unsigned i = 0; i < WORDS_MAX; i++) {
		struct word *word = &words->word[i];

		if (word->cookie)
			continue;
		*word = (struct word){
			.cookie = ++words->cookies, .address = address, .origin = *origin};
		return word;
	}
	return NULL;
}

void words_remove(struct word *word)
{
	word->cookie = 0;
}

static struct context *context_of(struct words *words, uint64_t key)
{
	struct context *context = &words->context[key % CONTEXTS];

	if (context->key != key)
		*context = (struct context){.key = key};
	return context;
}

unsigned words_birth(struct words *words, uint64_t key)
{
	return context_of(words, key)->births++;
}

uint64_t words_fresh(const struct origin *origin)
{
	return (origin->length + WORD_LENGTH - 1) / WORD_LENGTH - origin->filled / WORD_LENGTH;
}

/*
 * The first word comes first, then the last one, then the others in steps of the golden ratio,
 * which spread evenly over a block of any length.
 */
uint64_t words_turn(struct words *words, const struct origin *origin)
{
	uint64_t count = words_fresh(origin);
	uint32_t turn = context_of(words, origin->context)->turns++;

	if (count < 2 || turn % count == 0)
		return 0;
	if (turn % count == 1 && turn < count)
		return count - 1;
	return (uint64_t)((unsigned __int128)(turn * 0x9e3779b97f4a7c15ull) * count >> 64);
}

uint8_t words_within(const struct origin *origin, uint64_t address)
{
	uint8_t bytes = 0;

	for (unsigned i = 0; i < WORD_LENGTH; i++)
		if (address + i - origin->address < origin->length &&
		    address + i - origin->address >= origin->filled)
			bytes |= (uint8_t)(1u << i);
	return bytes;
}

uint8_t words_touched(const struct word *word, uint64_t first, uint64_t length)
{
	uint8_t bytes = 0;

	for (unsigned i = 0; i < WORD_LENGTH; i++)
		if (word->address + i - first < length)
			bytes |= (uint8_t)(1u << i);
	return bytes;
}

uint64_t words_bits(uint8_t bytes)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < WORD_LENGTH; i++)
		bits |= bytes >> i & 1 ? 0xffull << 8 * i : 0;
	return bits;
}

uint8_t words_bytes(uint64_t bits)
{
	uint8_t bytes = 0;

	for (unsigned i = 0; i < WORD_LENGTH; i++)
		bytes |= (uint8_t)((bits >> 8 * i & 0xff ? 1u : 0u) << i);
	return bytes;
}

void words_foretell(struct word *word, pid_t tid, const struct shadow_found *found)
{
	memcpy(word->update, found->store, sizeof(word->update));
	word->updates = found->stores;
	word->updater = tid;
}

/* Is this the next of the stores that were foretold? A thread that stores at another place has
 * taken another way, and nothing foretold counts then. */
static bool is_foretold(const struct word *word, pid_t tid, uint64_t pc)
{
	return word->updates && word->updater == tid && word->update[0].pc == pc;
}

bool words_store(struct word *word, pid_t tid, uint64_t pc, uint8_t bytes)
{
	uint64_t touched = words_bits(bytes), left = 0;

	if (is_foretold(word, tid, pc)) {
		left = word->update[0].bits & touched;
		word->updates--;
		memmove(word->update, word->update + 1, word->updates * sizeof(word->update[0]));
	} else {
		word->updates = 0;
	}
	word->fresh = (word->fresh & ~touched) | left;
	return left;
}
