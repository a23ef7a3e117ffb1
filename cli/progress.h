/* SPDX-License-Identifier: Apache-2.0 */
/* One line at the bottom of a terminal that says how far things are. It is removed before other
 * text is printed. */
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

/* Turns it on if standard error is a terminal that can go back to the beginning of its line, and
 * not `quiet`. */
void progress_begin(struct progress *progress, bool quiet);
/* Is it time for another line? It is once a second. */
bool progress_is_due(struct progress *progress);
void progress_draw(struct progress *progress, unsigned found, unsigned hidden, double cost);
/* Removes the line. Called before any other text, and at the end. */
void progress_clear(struct progress *progress);

#endif
