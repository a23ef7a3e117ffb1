/* SPDX-License-Identifier: Apache-2.0 */
/* Known names that are like an unknown one: a few typing errors away, or containing it. */
#ifndef SYMBOL_NEAR_H
#define SYMBOL_NEAR_H

#include <stddef.h>

#define SYMBOL_NEAR_MAX 5

struct symbol_near {
	const char *wanted;
	const char *name[SYMBOL_NEAR_MAX]; /* best first */
	unsigned distance[SYMBOL_NEAR_MAX];
	unsigned count;
};

/* Considers one more name, which must stay valid. */
void symbol_near_offer(struct symbol_near *near, const char *name);
/* Writes ": there is a, b and c", or nothing. */
void symbol_near_format(const struct symbol_near *near, char *text, size_t size);

#endif
