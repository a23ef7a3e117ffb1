/* SPDX-License-Identifier: Apache-2.0 */
/* What one probe of the machine saw. */
#ifndef EVENT_PROBE_OUTCOME_H
#define EVENT_PROBE_OUTCOME_H

enum probe_state {
	PROBE_UNKNOWN, /* not tried yet */
	PROBE_WORKS,
	PROBE_LIMITED, /* works, though not as far as it could */
	PROBE_MISSING,
};

struct probe_outcome {
	enum probe_state state;
	char detail[192]; /* what was seen: "" or a sentence */
	char advice[512]; /* what to change: "" or a sentence */
};

const char *probe_state_name(enum probe_state state);

/* Set by the probe itself, with printf-like detail. */
__attribute__((format(printf, 3, 4))) void
probe_say(struct probe_outcome *outcome, enum probe_state state, const char *format, ...);
__attribute__((format(printf, 2, 3))) void probe_advise(struct probe_outcome *outcome,
							const char *format, ...);

#endif
