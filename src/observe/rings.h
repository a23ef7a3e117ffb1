/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ring a CPU for all events of an observed process, since the kernel maps a ring for inherited
 * events of one CPU alone. Each belongs to an event of our own thread that counts nothing; others
 * write to it.
 *
 * Promised: records are read in the order in which they were written, whichever ring they are in.
 */
#ifndef OBSERVE_RINGS_H
#define OBSERVE_RINGS_H

#include "event/coverage.h"
#include "sample/ring.h"

#include <poll.h>

#define RINGS_SAMPLE_TIME_OFFSET 24u /* of a sample's time: after the header, ip, pid and tid */
#define RINGS_OTHER_TIME_OFFSET 16u  /* of another record's, from its end: before the event's id */

struct rings {
	struct ring *ring;
	unsigned count;
	struct pollfd *ready; /* room for one more than there are rings */
	int hold;	      /* an event of the process */
	bool held;
	uint64_t opened; /* events that write to them, ever */
};

/* For events of this process. 0 or -errno; rings_close() in either case. */
int rings_open(struct rings *rings, pid_t pid);
void rings_close(struct rings *rings);

/* Opens the request in this thread, once a CPU, each writing to that CPU's ring. On failure some
 * may be open: the last ones of `coverage`. 0 or -errno. */
int rings_cover(struct rings *rings, struct coverage *coverage, const struct perf_request *request,
		pid_t tid);

/* Until one has much to be read, `end` is ready to be read (-1: nothing), or the time is over. */
void rings_wait(const struct rings *rings, int end, int milliseconds);

/* How far the kernel has written. What it writes meanwhile may be seen in one ring while what came
 * before that in another is not: what is later than the look began is in order at the next. */
void rings_look(struct rings *rings);
/* The ring whose next record is the earliest of all; NULL: none has one from before `until`
 * (CLOCK_MONOTONIC, ns). */
struct ring *rings_earliest(struct rings *rings, uint64_t until, struct perf_event_header *header);

#endif
