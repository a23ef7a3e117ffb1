/* SPDX-License-Identifier: Apache-2.0 */
/* A finding as people read it on a terminal. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <stdio.h>

#include "record/finding.h"

struct text_options {
	bool color;
	bool sources; /* quote the source line of each place when it can be read */
	/* Reads the line; NULL: from the file itself. 0 or negative. */
	int (*source)(void *arg, const char *file, unsigned line, char *text, size_t size);
	void *source_arg;
	unsigned frames;    /* of each stack at most; 0: all */
	const char *prefix; /* before each line, such as "==1234== "; NULL: nothing */
};

/* Whether this stream should get colors: a terminal, TERM not "dumb", NO_COLOR not set. */
bool text_wants_color(FILE *stream);

void text_write(FILE *stream, const struct finding *finding, const struct text_options *options);

/* One line for lists: "definite data-race  increment counter.c:12 / reset counter.c:30  counter".
 */
void text_write_summary(FILE *stream, const struct finding *finding,
			const struct text_options *options);

/* Above the possible findings about one object. */
void text_write_heading(FILE *stream, const char *object, size_t count,
			const struct text_options *options);

#endif
