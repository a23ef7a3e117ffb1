/* SPDX-License-Identifier: Apache-2.0 */
/* Programs' own searches by words and vectors, which load aligned words across the ends of blocks
 * and throw away what does not count. */
#include "mistakes.h"

#include <emmintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define SIZES 70
#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

typedef uint64_t __attribute__((may_alias)) word;
typedef uint32_t __attribute__((may_alias)) half;

static char *filled(size_t size)
{
	char *block = checked(hidden(malloc(size)));

	memset(block, 'a', size - 1);
	block[size - 1] = 0;
	return hidden(block);
}

static NOINLINE const char *end_by_words(const char *text)
{
	const word *at = (const word *)text;

	while (!((*at - ONES) & ~*at & HIGHS))
		at++;
	for (text = (const char *)at; *text; text++)
		;
	return text;
}

static const uint64_t ones = ONES, highs = HIGHS;

static NOINLINE const char *end_by_distant_constants(const char *text)
{
	const volatile uint64_t *high = &highs;
	const word *at = (const word *)text;

	while (!((*at - ones) & ~*at & *high))
		at++;
	for (text = (const char *)at; *text; text++)
		;
	return text;
}

static NOINLINE const char *end_by_sums(const char *text)
{
	const uint64_t lower = ~HIGHS;
	const word *at = (const word *)text;

	while (!~(((*at & lower) + lower) | *at | lower))
		at++;
	for (text = (const char *)at; *text; text++)
		;
	return text;
}

static NOINLINE const char *end_by_halves(const char *text)
{
	const half *at = (const half *)text;

	while (!((*at - (uint32_t)ONES) & ~*at & (uint32_t)HIGHS))
		at++;
	for (text = (const char *)at; *text; text++)
		;
	return text;
}

static NOINLINE const char *end_by_vectors(const char *text)
{
	const __m128i zero = _mm_setzero_si128();
	int found;

	for (;; text += 16) {
		found = _mm_movemask_epi8(
			_mm_cmpeq_epi8(_mm_load_si128((const __m128i *)text), zero));
		if (found)
			return text + __builtin_ctz((unsigned)found);
	}
}

static NOINLINE const char *end_by_half_vectors(const char *text)
{
	int found;

	for (;; text += 8) {
		found = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadl_epi64((const __m128i *)text),
							 _mm_setzero_si128())) &
			0xff;
		if (found)
			return text + __builtin_ctz((unsigned)found);
	}
}

static NOINLINE const char *find_by_words(const char *bytes, int wanted, size_t size)
{
	const uint64_t pattern = ONES * (unsigned char)wanted;

	for (size_t at = 0; at < size; at += 8) {
		uint64_t x = *(const word *)(bytes + at) ^ pattern;

		x = (x - ONES) & ~x & HIGHS;
		if (x && at + (size_t)__builtin_ctzll(x) / 8 < size)
			return bytes + at + __builtin_ctzll(x) / 8;
	}
	return NULL;
}

static NOINLINE bool equal_by_words(const char *one, const char *other, size_t size)
{
	size_t at;

	for (at = 0; at + 8 <= size; at += 8)
		if (*(const word *)(one + at) != *(const word *)(other + at))
			return false;
	if (at == size)
		return true;
	return !((*(const word *)(one + at) ^ *(const word *)(other + at))
		 << 8 * (8 - (size - at)));
}

static NOINLINE uint64_t hash_by_words(const char *bytes, size_t size)
{
	uint64_t hash = size, last;
	size_t at;

	for (at = 0; at + 8 <= size; at += 8)
		hash = (hash ^ *(const word *)(bytes + at)) * UINT64_C(0x9E3779B97F4A7C15);
	if (at < size) {
		last = *(const word *)(bytes + at) & ((UINT64_C(1) << 8 * (size - at)) - 1);
		hash = (hash ^ last) * UINT64_C(0x9E3779B97F4A7C15);
	}
	return hash;
}

static NOINLINE int compare_by_words(const char *one, const char *other)
{
	for (;; one += 8, other += 8) {
		uint64_t x = *(const word *)one, y = *(const word *)other;
		uint64_t zero = (x - ONES) & ~x & HIGHS;

		if (zero) {
			/* Up to the first zero byte, that included. */
			uint64_t mask = zero ^ (zero - 1);

			return ((x ^ y) & mask) != 0;
		}
		if (x != y)
			return 1;
	}
}

static void ends(const char *(*end)(const char *))
{
	for (size_t size = 2; size < SIZES; size++) {
		char *block = filled(size);

		require(end(block) == block + size - 1, "the end");
		free(block);
	}
}

static void lengths_by_words(void)
{
	ends(end_by_words);
}
static void lengths_by_distant_constants(void)
{
	ends(end_by_distant_constants);
}
static void lengths_by_sums(void)
{
	ends(end_by_sums);
}
static void lengths_by_halves(void)
{
	ends(end_by_halves);
}
static void lengths_by_vectors(void)
{
	ends(end_by_vectors);
}
static void lengths_by_half_vectors(void)
{
	ends(end_by_half_vectors);
}

static void bytes_by_words(void)
{
	for (size_t size = 2; size < SIZES; size++) {
		char *block = filled(size);

		require(find_by_words(block, 0, size) == block + size - 1, "found");
		require(!find_by_words(block, 'z', size), "not found");
		free(block);
	}
}

static void comparisons_by_words(void)
{
	for (size_t size = 2; size < SIZES; size++) {
		char *one = filled(size), *other = filled(size);

		require(equal_by_words(one, other, size), "equal");
		require(!compare_by_words(one, other), "the same string");
		free(one);
		free(other);
	}
}

static void hashes_by_words(void)
{
	for (size_t size = 2; size < SIZES; size++) {
		char *one = filled(size), *other = filled(size);

		require(hash_by_words(one, size) == hash_by_words(other, size), "the same hash");
		free(one);
		free(other);
	}
}

static const struct test_case cases[] = {
	{"lengths_by_words", lengths_by_words},
	{"lengths_by_distant_constants", lengths_by_distant_constants},
	{"lengths_by_sums", lengths_by_sums},
	{"lengths_by_halves", lengths_by_halves},
	{"lengths_by_vectors", lengths_by_vectors},
	{"lengths_by_half_vectors", lengths_by_half_vectors},
	{"bytes_by_words", bytes_by_words},
	{"comparisons_by_words", comparisons_by_words},
	{"hashes_by_words", hashes_by_words},
};

CASES_MAIN(cases)
