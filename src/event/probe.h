/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine can do, found out by doing it: some virtual machines accept watchpoints that
 * never fire, some containers filter the system call, so neither versions nor flags are believed.
 * Outcomes are kept for the life of the process. Not for signal handlers.
 */
#ifndef EVENT_PROBE_H
#define EVENT_PROBE_H

#include <stdbool.h>
#include <stddef.h>

enum probe {
#define PROBE(identifier, function, required, name, meaning, needed_by) PROBE_##identifier,
#include "event/probes.def"
#undef PROBE
	PROBE_COUNT
};

enum probe_state {
	PROBE_UNKNOWN, /* not tried yet */
	PROBE_WORKS,
	PROBE_LIMITED, /* works, though not as far as it could */
	PROBE_MISSING,
};

struct probe_outcome {
	enum probe_state state;
	char detail[192]; /* what was seen: "" or a sentence */
	char advice[256]; /* what to change: "" or a sentence */
};

const struct probe_outcome *probe_outcome(enum probe probe);
bool probe_works(enum probe probe); /* PROBE_LIMITED counts */

bool probe_required(enum probe probe);
const char *probe_name(enum probe probe);
const char *probe_meaning(enum probe probe);
const char *probe_needed_by(enum probe probe);
const char *probe_state_name(enum probe_state state);

/* Everything that the main job needs works; runs those probes. */
bool probe_main_job(void);

/* For the probes themselves: set the outcome, with printf-like detail. */
typedef void probe_fn(struct probe_outcome *outcome);
__attribute__((format(printf, 3, 4))) void
probe_say(struct probe_outcome *outcome, enum probe_state state, const char *format, ...);
__attribute__((format(printf, 2, 3))) void probe_advise(struct probe_outcome *outcome,
							const char *format, ...);

#define PROBE(identifier, function, required, name, meaning, needed_by) probe_fn function;
#include "event/probes.def"
#undef PROBE

#endif
