/* SPDX-License-Identifier: Apache-2.0 */
/* The places in the code that hits came from, and how many came from each. */
#ifndef WATCH_PLACE_H
#define WATCH_PLACE_H

#include "record/area.h"
#include "record/finding.h"
#include "watch/wanted.h"

struct watch;

struct place {
	unsigned wanted;
	enum finding_operation operation;
	char *text; /* "function file:line" */
	uint64_t count;
	/* Time and value of the last hit that was sent to the controller. */
	uint64_t last_time, last_value;
	bool last_known;
	char last_thread[AREA_NAME];
};

/* Returns the place's index, or -1 when memory is short. */
int place_count(struct watch *watch, unsigned wanted, const struct finding *finding);
void places_print(struct watch *watch);
void place_text(const struct finding_access *access, char *text, size_t size);

#endif
