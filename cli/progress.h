/* SPDX-License-Identifier: Apache-2.0 */
/* One line at the bottom of a terminal that says how far things are, gone when there is other text.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on;
	bool drawn;
	bool plain;	      /* without colour */
	uint64_t began, next; /* CLOCK_MONOTONIC, ns */
};

/* On when standard error is a terminal that can go back in its line, unless `quiet`. */
void progress_begin(struct progress *progress, bool quiet);
/* Is it time for another line? Once a second. */
bool progress_is_due(struct progress *progress);
void progress_draw(struct progress *progress, unsigned found, unsigned hidden, double cost);
/* Before any other text, and at the end. */
void progress_clear(struct progress *progress);

#endif
