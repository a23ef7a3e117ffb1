/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/near.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 64
/* A name that contains the wanted one counts as so many typing errors, and as more if it is
 * longer. */
#define SUBSTRING_DISTANCE 2

/* The Levenshtein distance, computed row by row. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned row[LENGTH_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			unsigned above = row[j];
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			if (above + 1 < best)
				best = above + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diagonal = above;
		}
	}
	return row[b_length];
}

static unsigned distance_of(const char *wanted, const char *name)
{
	size_t length = strlen(wanted), other = strlen(name);
	size_t difference = length > other ? length - other : other - length;
	unsigned allowed = length < 4 ? 1 : (unsigned)(length / 3);
	unsigned distance = ~0u;

	if (length >= 3 && strcasestr(name, wanted))
		distance = SUBSTRING_DISTANCE + (unsigned)(other - length) / 8;
	if (difference <= allowed && length <= LENGTH_MAX && other <= LENGTH_MAX) {
		unsigned edits = edit_distance(wanted, length, name, other);

		if (edits <= allowed && edits < distance)
			distance = edits;
	}
	return distance;
}

void symbol_near_offer(struct symbol_near *near, const char *name)
{
	unsigned distance = distance_of(near->wanted, name), at = near->count;

	if (distance == ~0u)
		return;
	for (unsigned i = 0; i < near->count; i++)
		if (strcmp(near->name[i], name) == 0)
			return;
	while (at > 0 && near->distance[at - 1] > distance)
		at--;
	if (at >= SYMBOL_NEAR_MAX)
		return;
	if (near->count < SYMBOL_NEAR_MAX)
		near->count++;
	for (unsigned i = near->count - 1; i > at; i--) {
		near->name[i] = near->name[i - 1];
		near->distance[i] = near->distance[i - 1];
	}
	near->name[at] = name;
	near->distance[at] = distance;
}

void symbol_near_format(const struct symbol_near *near, char *text, size_t size)
{
	size_t length = 0;

	text[0] = 0;
	for (unsigned i = 0; i < near->count && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s",
					   i == 0		  ? "; there is "
					   : i + 1 == near->count ? " and "
								  : ", ",
					   near->name[i]);
}
