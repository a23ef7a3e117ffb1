/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ring a CPU for all events of an observed process, since the kernel maps a ring for inherited
 * events of one CPU alone. Each belongs to an event that counts nothing; others write to it.
 *
 * Promised: records are read in the order in which they were written, whichever ring they are in.
 */
#ifndef CONTROL_RINGS_H
#define CONTROL_RINGS_H

#include "event/coverage.h"
#include "sample/ring.h"

#define RINGS_MAX 256		     /* CPUs */
#define RINGS_SAMPLE_TIME_OFFSET 24u /* of a sample's time: after the header, ip, pid and tid */

struct rings {
	struct ring ring[RINGS_MAX];
	unsigned count;
};

/* 0 or -errno; rings_close() in either case. */
int rings_open(struct rings *rings, pid_t pid);
void rings_close(struct rings *rings);

/* Opens the request in this thread, once a CPU, each writing to that CPU's ring. On failure some
 * may be open: the last ones of `coverage`. 0 or -errno. */
int rings_cover(const struct rings *rings, struct coverage *coverage,
		const struct perf_request *request, pid_t tid);

/* How far the kernel has written. */
void rings_look(struct rings *rings);
/* The ring whose next record is the earliest of all; NULL: all are empty. */
struct ring *rings_earliest(struct rings *rings, struct perf_event_header *header);

#endif
