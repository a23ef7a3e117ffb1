/* SPDX-License-Identifier: Apache-2.0 */
#include "event/probe.h"

#include "event/lethal.h"

static const struct {
	const char *name;
	const char *meaning;
	const char *needed_by;
	probe_fn *run;
	bool required;
} probes[] = {
#define PROBE(identifier, function, required, name, meaning, needed_by) \
	[PROBE_##identifier] = {name, meaning, needed_by, function, required},
#include "event/probes.def"
#undef PROBE
};

_Static_assert(sizeof(probes) / sizeof(probes[0]) == PROBE_COUNT, "every probe has a row");

static struct probe_outcome outcomes[PROBE_COUNT];

/* Most probes call perf_event_open(2). Where a filter would kill this process for a call that they
 * need (lethal_call()), no probe runs and the outcome says so. */
static void try(enum probe probe)
{
	struct probe_outcome *outcome = &outcomes[probe];
	const char *call = lethal_call();

	if (!call) {
		probes[probe].run(outcome);
		return;
	}
	probe_say(outcome, PROBE_MISSING, "not tried: a seccomp filter kills for %s(2)", call);
	probe_advise(outcome, "allow %s(2) in the container's or service's profile", call);
}

const struct probe_outcome *probe_outcome(enum probe probe)
{
	if (outcomes[probe].state == PROBE_UNKNOWN)
		try(probe);
	return &outcomes[probe];
}

bool probe_works(enum probe probe)
{
	return probe_outcome(probe)->state != PROBE_MISSING;
}

bool probe_required(enum probe probe)
{
	return probes[probe].required;
}

const char *probe_name(enum probe probe)
{
	return probes[probe].name;
}

const char *probe_meaning(enum probe probe)
{
	return probes[probe].meaning;
}

const char *probe_needed_by(enum probe probe)
{
	return probes[probe].needed_by;
}

bool probe_main_job(void)
{
	bool works = true;

	for (int probe = 0; probe < PROBE_COUNT; probe++)
		if (probes[probe].required)
			works &= probe_works((enum probe)probe);
	return works;
}
