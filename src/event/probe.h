/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine can do, found out by doing it: some virtual machines accept watchpoints that
 * never fire, some containers filter the system call, so neither versions nor flags are believed.
 * Outcomes are kept for the life of the process. Not for signal handlers.
 */
#ifndef EVENT_PROBE_H
#define EVENT_PROBE_H

#include "event/probe_outcome.h"

#include <stdbool.h>

enum probe {
#define PROBE(identifier, function, required, name, meaning, needed_by) PROBE_##identifier,
#include "event/probes.def"
#undef PROBE
	PROBE_COUNT
};

const struct probe_outcome *probe_outcome(enum probe probe);
bool probe_works(enum probe probe); /* PROBE_LIMITED counts */

bool probe_required(enum probe probe);
const char *probe_name(enum probe probe);
const char *probe_meaning(enum probe probe);
const char *probe_needed_by(enum probe probe);

/* Everything that the main job needs works; runs those probes. */
bool probe_main_job(void);

/* One probe, a row of probes.def. */
typedef void probe_fn(struct probe_outcome *outcome);
#define PROBE(identifier, function, required, name, meaning, needed_by) probe_fn function;
#include "event/probes.def"
#undef PROBE

#endif
