/* SPDX-License-Identifier: Apache-2.0 */
/* What a run found, at its end: one line each, with the final counts, which reports during the run
 * cannot have. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/statistics.h"
#include "record/finding.h"

struct summary {
	FILE *stream;
	unsigned lines; /* written so far */
	/* of these, findings in the system's libraries alone, which come last */
	unsigned libraries;
	unsigned known;	 /* findings hidden by the rules that come with trapline */
	unsigned hidden; /* findings of class `possible` that were not shown */
};

/* Prints one finding; the first one brings a heading with it. */
void summary_add(struct summary *summary, const struct finding *finding);

/* Says what was hidden, and what was looked at and what not. If nothing was found this goes to a
 * terminal alone: elsewhere the program's standard error is to stay as it is without us. */
void summary_end(const struct summary *summary, const struct statistics *statistics);

#endif
