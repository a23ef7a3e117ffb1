/* SPDX-License-Identifier: Apache-2.0 */
/* What `--stats` prints at the end: counts that are not zero, grouped. */
#ifndef CLI_STATISTICS_H
#define CLI_STATISTICS_H

#include <stdint.h>
#include <stdio.h>

#define STATISTICS_MAX 512 /* counts; further ones are left out and their number is told */

enum statistics_choice {
	STATISTICS_NONE,
	STATISTICS_COUNTED, /* --stats: those that are not zero */
	STATISTICS_ALL,	    /* --stats=all */
};

struct statistic {
	const char *name, *meaning; /* live until it is printed */
	uint64_t value;
};

struct statistics {
	struct statistic row[STATISTICS_MAX];
	unsigned count, left_out;
};

/* Parses the option's value; NULL: it has none. 0; 2: there is no such choice, which was said. */
int statistics_parse(const char *text, enum statistics_choice *choice);

/* A control_count_fn; `context` is a struct statistics. */
void statistics_add(void *context, const char *name, uint64_t value, const char *meaning);
void statistics_print(const struct statistics *statistics, enum statistics_choice choice,
		      FILE *stream);

#endif
