/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/rings.h"

#include "base/syscall.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PAGES_MAX 16384 /* of data on all CPUs together: 64 MiB … */
#define RING_PAGES_MAX \
	4096 /* … and on one, powers of two. 16 MiB are 2,400 hits with whole stacks, */
#define RING_PAGES_LEAST                                                                        \
	1024		     /* until they must be emptied. Many CPUs seldom write all at once. \
			      */
#define PAGES_MOST (1 << 18) /* on all CPUs, however many: 1 GiB */
#define RING_PAGES_MIN 16    /* what a user without privilege may have */

static size_t pages_wanted(long cpus)
{
	size_t pages = RING_PAGES_MAX;

	while (pages > RING_PAGES_LEAST && pages * (size_t)cpus > PAGES_MAX)
		pages /= 2;
	while (pages > RING_PAGES_MIN && pages * (size_t)cpus > PAGES_MOST)
		pages /= 2;
	return pages;
}

static const struct perf_event_attr nothing = {.size = sizeof(nothing),
					       .type = PERF_TYPE_SOFTWARE,
					       .config = PERF_COUNT_SW_DUMMY,
					       .exclude_kernel = 1,
					       .exclude_hv = 1,
					       .use_clockid = 1,
					       .clockid = CLOCK_MONOTONIC,
					       .watermark = 1,
					       .wakeup_watermark = 65536};

/*
 * An event in the process's first thread that no thread inherits, which tells whether events may be
 * opened there. While it is there, the kernel does not take the contexts of that thread and of
 * those that it creates for equal, and does not exchange them (perf_event_context_sched_out()):
 * with its context a thread would end with another's breakpoints, which would count as gone from
 * that one.
 */
static int hold_process(struct rings *rings, pid_t pid)
{
	rings->hold = raw_perf_event_open(&nothing, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	rings->held = rings->hold >= 0;
	return rings->held ? 0 : rings->hold;
}

/* On this thread: the descriptor of an event whose thread has ended is ready for ever (POLLHUP),
 * and a process may go on when its first thread has ended. */
static int open_ring(struct ring *ring, int cpu, size_t pages)
{
	return ring_open(ring, &nothing, 0, cpu, RING_PAGES_MIN, pages);
}

int rings_open(struct rings *rings, pid_t pid)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int err = hold_process(rings, pid);

	rings->ring = calloc((size_t)cpus, sizeof(*rings->ring));
	rings->ready = calloc((size_t)cpus + 1, sizeof(*rings->ready));
	if (!err && (!rings->ring || !rings->ready))
		err = -ENOMEM;
	for (int cpu = 0; !err && cpu < cpus; cpu++) {
		int result = open_ring(&rings->ring[rings->count], cpu, pages_wanted(cpus));

		if (!result)
			rings->count++;
		else if (result != -ENODEV)
			return result;
	}
	return rings->count || err ? err : -ENODEV;
}

void rings_close(struct rings *rings)
{
	for (unsigned i = 0; i < rings->count; i++)
		ring_close(&rings->ring[i]);
	if (rings->held)
		close(rings->hold);
	free(rings->ring);
	free(rings->ready);
	*rings = (struct rings){0};
}

int rings_cover(struct rings *rings, struct coverage *coverage, const struct perf_request *request,
		pid_t tid)
{
	struct perf_request one = *request;

	for (unsigned i = 0; i < rings->count; i++) {
		int err, fd;

		one.cpu = rings->ring[i].cpu + 1;
		err = coverage_add(coverage, &one, tid);
		if (err)
			return err;
		rings->opened++;
		fd = coverage->roots[coverage->count - 1].fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, rings->ring[i].fd))
			return -errno;
	}
	return 0;
}

void rings_wait(const struct rings *rings, int end, int milliseconds)
{
	for (unsigned i = 0; i < rings->count; i++)
		rings->ready[i] = (struct pollfd){rings->ring[i].fd, POLLIN, 0};
	rings->ready[rings->count] = (struct pollfd){end, POLLIN, 0};
	poll(rings->ready, rings->count + 1, milliseconds);
}

void rings_look(struct rings *rings)
{
	for (unsigned i = 0; i < rings->count; i++)
		ring_look(&rings->ring[i]);
}

/* The next record of a ring and its time: every record but a sample ends with it and the event's id
 * (sample_id_all). */
static bool peek(const struct ring *ring, struct perf_event_header *header, uint64_t *time)
{
	if (ring->tail + sizeof(*header) > ring->head)
		return false;
	ring_copy(ring, ring->tail, header, sizeof(*header));
	if (header->size < sizeof(*header) + RINGS_OTHER_TIME_OFFSET)
		return false;
	ring_copy(ring,
		  ring->tail + (header->type == PERF_RECORD_SAMPLE
					? RINGS_SAMPLE_TIME_OFFSET
					: header->size - RINGS_OTHER_TIME_OFFSET),
		  time, sizeof(*time));
	return true;
}

struct ring *rings_earliest(struct rings *rings, uint64_t until, struct perf_event_header *header)
{
	struct ring *found = NULL;
	uint64_t first = until;

	for (unsigned i = 0; i < rings->count; i++) {
		struct perf_event_header next;
		uint64_t time;

		if (!peek(&rings->ring[i], &next, &time) || time >= first)
			continue;
		found = &rings->ring[i];
		first = time;
		*header = next;
	}
	return found;
}
