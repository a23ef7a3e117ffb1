/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Optimal string alignment (Damerau 1964, in the restricted form: no substring is edited twice),
 * row by row; three rows are enough because a swap looks two back.
 */
unsigned suggest_distance(const char *a, const char *b)
{
	unsigned rows[3][SUGGEST_MAX_LENGTH + 1];
	size_t a_length = strlen(a), b_length = strlen(b);

	if (a_length >= SUGGEST_MAX_LENGTH || b_length >= SUGGEST_MAX_LENGTH)
		return SUGGEST_MAX_LENGTH;
	for (size_t column = 0; column <= b_length; column++)
		rows[0][column] = (unsigned)column;
	for (size_t row = 1; row <= a_length; row++) {
		unsigned *current = rows[row % 3], *above = rows[(row + 2) % 3];
		const unsigned *twice_above = rows[(row + 1) % 3];

		current[0] = (unsigned)row;
		for (size_t column = 1; column <= b_length; column++) {
			unsigned differs = a[row - 1] != b[column - 1];

			current[column] = least(least(above[column], current[column - 1]) + 1,
						above[column - 1] + differs);
			if (row > 1 && column > 1 && a[row - 1] == b[column - 2] &&
			    a[row - 2] == b[column - 1])
				current[column] =
					least(current[column], twice_above[column - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

int suggest_nearest(const char *typed, const char *const *names, size_t count)
{
	unsigned nearest = SUGGEST_MAX_LENGTH;
	int index = -1;

	for (size_t i = 0; i < count; i++) {
		unsigned distance = suggest_distance(typed, names[i]);

		if (distance < nearest) {
			nearest = distance;
			index = (int)i;
		}
	}
	/* A third of the letters wrong is still a slip; more is another word. */
	if (index >= 0 && nearest * 3 > strlen(names[index]) + 1)
		return -1;
	return index;
}
