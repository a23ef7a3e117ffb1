/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routines that load whole words, or vectors, of which only a part counts: what lies behind a
 * string's end, between members, or in other bits is thrown away again. They have the same result
 * whatever stands there. Each is called with a block all of whose bytes that count were written
 * (words.c with UNWRITTEN=0), and with one of which the last was not (UNWRITTEN=1).
 */
#ifndef WORDS_H
#define WORDS_H

#include "cases.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

static inline uint64_t word_at(const char *text, size_t index)
{
	uint64_t word;

	memcpy(&word, text + 8 * index, sizeof(word));
	return word;
}

/* The low `count` bytes, 1 to 8. */
static inline uint64_t mask_of(size_t count)
{
	return ~0ull >> (64 - 8 * count);
}

/* The words differ, and then it turns out where. */
static NOINLINE int equal_words(const char *a, const char *b, size_t length)
{
	for (size_t i = 0;; i++, length -= 8) {
		uint64_t differ = word_at(a, i) ^ word_at(b, i);

		if (differ)
			return length < 8 && differ << (64 - 8 * length) == 0;
		if (length <= 8)
			return 1;
	}
}

#if defined(__x86_64__)
/* As an interpreter has it, by hand: where it has come to stays behind in rdx, and is no result. */
static NOINLINE int equal_by_hand(const char *a, const char *b, size_t length)
{
	uint64_t equal;

	__asm__ volatile("1: mov (%%rdx, %[between]), %%rax\n"
			 "xor (%%rdx), %%rax\n"
			 "jne 2f\n"
			 "add $8, %%rdx\n"
			 "sub $8, %%rcx\n"
			 "ja 1b\n"
			 "mov $1, %%eax\n"
			 "jmp 4f\n"
			 "2: cmp $8, %%rcx\n"
			 "jb 3f\n"
			 "xor %%eax, %%eax\n"
			 "jmp 4f\n"
			 "3: neg %%rcx\n"
			 "lea 64(, %%rcx, 8), %%rcx\n"
			 "shl %%cl, %%rax\n"
			 "sete %%al\n"
			 "movzbl %%al, %%eax\n"
			 "4:"
			 : "=&a"(equal), "+c"(length), "+d"(a)
			 : [between] "r"(b - a)
			 : "memory", "cc");
	return equal != 0;
}
#endif

static NOINLINE size_t length_by_words(const char *text)
{
	for (size_t i = 0;; i++) {
		uint64_t word = word_at(text, i), zeroes = (word - ONES) & ~word & HIGHS;

		if (zeroes)
			return 8 * i + (size_t)__builtin_ctzll(zeroes) / 8;
	}
}

static NOINLINE int compare_by_words(const char *a, const char *b)
{
	size_t i = 0;

	for (;; i += 8) {
		uint64_t word = word_at(a + i, 0);

		if (word != word_at(b + i, 0) || ((word - ONES) & ~word & HIGHS))
			break;
	}
	while (a[i] && a[i] == b[i])
		i++;
	return (unsigned char)a[i] - (unsigned char)b[i];
}

static NOINLINE uint64_t hash_masked(const char *text, size_t length)
{
	uint64_t hash = length;
	size_t i = 0;

	for (; length > 8; i++, length -= 8)
		hash = (hash ^ word_at(text, i)) * 0x9e3779b97f4a7c15ull;
	return (hash ^ (word_at(text, i) & mask_of(length))) * 0x9e3779b97f4a7c15ull;
}

static NOINLINE uint64_t hash_shifted(const char *text, size_t length)
{
	uint64_t last = word_at(text, 0) << (64 - 8 * length);

	return (last ^ last >> 29) * 0xbf58476d1ce4e5b9ull;
}

/* As numbers, the first byte counting most. */
static NOINLINE int compare_reversed(const char *a, const char *b, size_t length)
{
	uint64_t x = __builtin_bswap64(word_at(a, 0)) >> (64 - 8 * length);
	uint64_t y = __builtin_bswap64(word_at(b, 0)) >> (64 - 8 * length);

	return x < y ? -1 : x > y;
}

static NOINLINE int is_ascii(const char *text, size_t length)
{
	return !(word_at(text, 0) & HIGHS & mask_of(length));
}

static NOINLINE int equal_folded(const char *a, const char *b, size_t length)
{
	uint64_t fold = ONES * 0x20;

	return (((word_at(a, 0) | fold) ^ (word_at(b, 0) | fold)) & mask_of(length)) == 0;
}

/* Where `byte` is; what is found behind the end does not count. */
static NOINLINE size_t find_by_words(const char *text, unsigned char byte, size_t length)
{
	uint64_t word = word_at(text, 0) ^ ONES * byte, zeroes = (word - ONES) & ~word & HIGHS;
	size_t at = zeroes ? (size_t)__builtin_ctzll(zeroes) / 8 : 8;

	return at < length ? at : length;
}

static NOINLINE unsigned count_bits(const char *map, size_t bits)
{
	return (unsigned)__builtin_popcountll(word_at(map, 0) & ~0ull >> (64 - bits));
}

static NOINLINE int has_bit(const char *map, unsigned bit)
{
	return word_at(map, 0) >> bit & 1;
}

/* Three bytes of padding behind the first member, and four behind the last. */
struct record {
	char kind;
	int number;
	int last;
};

static NOINLINE int equal_records(const struct record *a, const struct record *b)
{
	uint64_t differ = word_at((const char *)a, 0) ^ word_at((const char *)b, 0);

	return (differ & 0xffffffff000000ffull) == 0 && a->last == b->last;
}

#if defined(__SSE2__)
static NOINLINE int equal_vector(const char *a, const char *b, size_t length)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
	__m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);
	unsigned same = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y));

	return (~same & ((1u << length) - 1)) == 0;
}

/* The first that differs, if it is one of those that count. */
static NOINLINE size_t common_vector(const char *a, const char *b, size_t length)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
	__m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);
	unsigned differ = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) ^ 0xffffu;
	size_t at = (size_t)__builtin_ctz(differ | 0x10000u);

	return at < length ? at : length;
}
#endif

#endif
