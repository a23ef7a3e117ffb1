/* SPDX-License-Identifier: Apache-2.0 */
/* The file of -o: a finding a line, written at once. What finds no room is told, never hidden. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "record/finding.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct output {
	const char *path;
	FILE *file; /* NULL: none was asked for, or it could not be opened */
	uint64_t lost;
	bool shared; /* with the program, which may have written behind our last line */
	bool cut;    /* the last line of it may be a part of one */
};

/* Its mode is 0600 from then on, also of one that was there. False, and says so, when it cannot be
 * opened. */
bool output_open(struct output *output, const char *path);
/* The program runs: what was in the file before is not wanted any more. */
void output_begin(struct output *output);
/* The first failure is told on standard error. What was written of the line is taken back,
 * unless others write there: then the next line begins anew. */
void output_write(struct output *output, const struct finding *finding);
/* Says how much is missing. The status to end with: `status`, or a failure where that is success
 * and something is missing. */
int output_close(struct output *output, int status);

#endif
