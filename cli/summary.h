/* SPDX-License-Identifier: Apache-2.0 */
/* What a run found, at its end: a line each, with the counts a report made on the way can't have.
 */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/statistics.h"
#include "record/finding.h"

struct summary {
	FILE *stream;
	unsigned lines;	    /* written so far */
	unsigned libraries; /* of these, in the system's libraries alone: they come last */
	unsigned known;	    /* hidden since a rule that comes with trapline knows them */
	unsigned hidden;    /* findings of class `possible` that were not shown */
};

/* One finding; the first brings a heading with it. */
void summary_add(struct summary *summary, const struct finding *finding);

/* Says what was kept back, and what was looked at and what not. Where nothing was shown it speaks
 * to a terminal only: elsewhere the program's standard error is to stay as it is without us. */
void summary_end(const struct summary *summary, const struct statistics *statistics);

#endif
