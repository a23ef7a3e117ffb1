/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With UNWRITTEN=0 every byte that counts was written: what else is loaded is thrown away again,
 * and nothing may be told. With UNWRITTEN=1 the last byte that counts was not.
 */
#include "words.h"

static char other[24] = "hello, worl";

/* A block of 24 bytes, of which the first `length` are those of `from`. */
static NOINLINE char *text_of(const char *from, size_t length)
{
	char *text = malloc(24);

	HIDE(text);
	for (size_t i = 0; i < length; i++)
		((volatile char *)text)[i] = from[i];
	HIDE(text);
	return text;
}

static NOINLINE void equal_words_case(void)
{
	char *text = text_of("hello, worl", 11 - UNWRITTEN);

	if (equal_words(text, other, 11))
		touch();
	free(text);
}

static NOINLINE void equal_in_one_word_case(void)
{
	char *text = text_of("hello", 5 - UNWRITTEN);

	if (equal_words(text, other, 5))
		touch();
	free(text);
}

#if defined(__x86_64__)
static NOINLINE void equal_by_hand_case(void)
{
	char *text = text_of("hello", 5 - UNWRITTEN), *next;
	int equal = equal_by_hand(text, other, 5);

	next = malloc(40); /* what is done there nobody follows */
	HIDE(next);
	if (equal)
		touch();
	free(next);
	free(text);
}
#endif

static NOINLINE void length_by_words_case(void)
{
	char *text = text_of("hello, worl\0", 12 - UNWRITTEN);

	if (length_by_words(text) > 5)
		touch();
	free(text);
}

static NOINLINE void compared_by_words_case(void)
{
	char *text = text_of("hello, worl\0", 12 - 2 * UNWRITTEN);

	if (compare_by_words(text, "hello, worl\0\0\0\0") == 0)
		touch();
	free(text);
}

static NOINLINE void hash_masked_case(void)
{
	char *text = text_of("hello, worl", 11 - UNWRITTEN);

	if (hash_masked(text, 11) >> 40 & 1)
		touch();
	free(text);
}

static NOINLINE void hash_shifted_case(void)
{
	char *text = text_of("hello", 5 - UNWRITTEN);

	if (hash_shifted(text, 5) & 0xff00000000)
		touch();
	free(text);
}

static NOINLINE void compared_reversed_case(void)
{
	char *text = text_of("hello", 5 - UNWRITTEN);

	if (compare_reversed(text, other, 5) == 0)
		touch();
	free(text);
}

static NOINLINE void ascii_masked_case(void)
{
	char *text = text_of("hello", 5 - UNWRITTEN);

	if (is_ascii(text, 5))
		touch();
	free(text);
}

static NOINLINE void equal_folded_case(void)
{
	char *text = text_of("HELLO", 5 - UNWRITTEN);

	if (equal_folded(text, other, 5))
		touch();
	free(text);
}

static NOINLINE void found_by_words_case(void)
{
	char *text = text_of("hellO", 5 - UNWRITTEN);

	if (find_by_words(text, 'O', 5) < 5)
		touch();
	free(text);
}

static NOINLINE void bits_counted_case(void)
{
	char *text = text_of("hello", 5 - UNWRITTEN);

	if (count_bits(text, 36) > 3)
		touch();
	free(text);
}

static NOINLINE void bit_tested_case(void)
{
	char *text = text_of("hello", 5 - UNWRITTEN);

	if (has_bit(text, 37))
		touch();
	free(text);
}

static NOINLINE void records_equal_case(void)
{
	static struct record same = {1, 2, 3};
	struct record *record = malloc(sizeof(*record));

	HIDE(record);
	record->kind = 1;
	if (!UNWRITTEN)
		record->number = 2;
	record->last = 3;
	HIDE(record);
	if (equal_records(record, &same))
		touch();
	free(record);
}

/* The first bytes that differ tell that it is another one. */
static NOINLINE void compared_to_difference_case(void)
{
	char *text = text_of("another ", 8 - UNWRITTEN), copy[16];
	size_t length = sizeof(copy);

	if (UNWRITTEN)
		memset(text + 8, '8', 8); /* of two words that one load touches one is told */
	HIDE(text);
	memcpy(copy, text, sizeof(copy));
	HIDE(length);
	if (memcmp(copy, "another!89abcdef", length) == 0)
		touch();
	free(text);
}

struct limits {
	size_t least, most;
};

static NOINLINE void length_handed_on_case(void)
{
	struct limits *limits = malloc(sizeof(*limits));
	const char *text = other;

	HIDE(limits);
	limits->least = 1;
	if (!UNWRITTEN)
		limits->most = 2;
	HIDE(limits);
	HIDE(text);
	sink = (long)strnlen(text, limits->most);
	free(limits);
}

#if defined(__SSE2__)
static NOINLINE void vector_masked_case(void)
{
	char *text = text_of("hello, worl", 11 - UNWRITTEN);

	if (equal_vector(text, other, 11))
		touch();
	free(text);
}

static NOINLINE void vector_first_case(void)
{
	char *text = text_of("hello, worl", 11 - UNWRITTEN);

	if (common_vector(text, other, 11) == 11)
		touch();
	free(text);
}
#endif

static const struct row rows[] = {
	{"words_equal_words", equal_words_case},
	{"words_equal_in_one_word", equal_in_one_word_case},
#if defined(__x86_64__)
	{"words_equal_by_hand", equal_by_hand_case},
#endif
	{"words_length_by_words", length_by_words_case},
	{"words_compared_by_words", compared_by_words_case},
	{"words_hash_masked", hash_masked_case},
	{"words_hash_shifted", hash_shifted_case},
	{"words_compared_reversed", compared_reversed_case},
	{"words_ascii_masked", ascii_masked_case},
	{"words_equal_folded", equal_folded_case},
	{"words_found_by_words", found_by_words_case},
	{"words_bits_counted", bits_counted_case},
	{"words_bit_tested", bit_tested_case},
	{"words_records_equal", records_equal_case},
	{"words_compared_to_difference", compared_to_difference_case},
	{"words_length_handed_on", length_handed_on_case},
#if defined(__SSE2__)
	{"words_vector_masked", vector_masked_case},
	{"words_vector_first", vector_first_case},
#endif
};

RUN_CASES(rows)
