/* SPDX-License-Identifier: Apache-2.0 */
/* The file of -o: each finding is written at once, as a line. A finding for which there is no room
 * is told of, never dropped in silence. */
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
	bool shared; /* the program has it open, too, and may have written behind our last line */
	bool cut;    /* the last line of it may be incomplete */
};

/* Opens the file and sets its mode to 0600, also if it existed. False, having said so: it cannot be
 * opened. */
bool output_open(struct output *output, const char *path);
/* Called when the program runs: what was in the file before is no longer wanted, and removed. */
void output_begin(struct output *output);
/* Writes one finding. The first failure is told on standard error. What was written of an
 * incomplete line is taken back; if others write to the file, too, the next line begins anew
 * instead. */
void output_write(struct output *output, const struct finding *finding);
/* Says how many findings are missing. Returns the status to end with: `status`, or a failure if
 * that is success and something is missing. */
int output_close(struct output *output, int status);

#endif
