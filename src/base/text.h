/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing text with lists of words, which NULL ends, and finding it in tables. Async-signal-safe.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Does the text begin with one of these? */
static inline bool text_begins_with_any(const char *text, const char *const *stems)
{
	for (; *stems; stems++)
		if (strncmp(text, *stems, strlen(*stems)) == 0)
			return true;
	return false;
}

/* Does the text have one of these in it? */
static inline bool text_contains_any(const char *text, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(text, *parts))
			return true;
	return false;
}

/* FNV-1a, its low bits mixed with higher ones: for tables whose size is a power of two. */
static inline uint64_t text_hash(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

/* Can the byte be part of a C or C++ identifier? A part of UTF-8 can, and '$' as compilers have it.
 */
static inline bool text_is_of_identifier(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '$' || (byte & 0x80);
}

/* The text behind all of these that it begins with, in any order. */
static inline const char *text_behind(const char *text, const char *const *prefixes)
{
	const char *const *prefix = prefixes;

	while (*prefix)
		if (strncmp(text, *prefix, strlen(*prefix)) == 0) {
			text += strlen(*prefix);
			prefix = prefixes;
		} else {
			prefix++;
		}
	return text;
}

#endif
