/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing text with lists of words, which NULL ends. Async-signal-safe. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
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
