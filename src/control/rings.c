/* SPDX-License-Identifier: Apache-2.0 */
#include "control/rings.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PAGES_MAX 16384 /* of data on all CPUs together: 64 MiB … */
#define RING_PAGES_MAX \
	4096 /* … and on one, powers of two. 16 MiB are 2,400 hits with whole stacks, */
#define RING_PAGES_LEAST                                                                     \
	1024		  /* until they must be emptied. Many CPUs seldom write all at once. \
			   */
#define RING_PAGES_MIN 16 /* what a user without privilege may have */

static size_t pages_wanted(long cpus)
{
	size_t pages = RING_PAGES_MAX;

	while (pages > RING_PAGES_LEAST && pages * (size_t)cpus > PAGES_MAX)
		pages /= 2;
	return pages;
}

static int open_ring(struct ring *ring, pid_t pid, int cpu, size_t pages)
{
	struct perf_event_attr attributes = {.size = sizeof(attributes),
					     .type = PERF_TYPE_SOFTWARE,
					     .config = PERF_COUNT_SW_DUMMY,
					     .exclude_kernel = 1,
					     .exclude_hv = 1,
					     .use_clockid = 1,
					     .clockid = CLOCK_MONOTONIC,
					     .watermark = 1,
					     .wakeup_watermark = 65536};

	return ring_open(ring, &attributes, pid, cpu, RING_PAGES_MIN, pages);
}

int rings_open(struct rings *rings, pid_t pid)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int err = -ENODEV;

	for (int cpu = 0; cpu < cpus && rings->count < RINGS_MAX; cpu++) {
		int result = open_ring(&rings->ring[rings->count], pid, cpu, pages_wanted(cpus));

		if (!result)
			rings->count++;
		else if (result != -ENODEV)
			return result;
		else
			err = result;
	}
	return rings->count ? 0 : err;
}

void rings_close(struct rings *rings)
{
	for (unsigned i = 0; i < rings->count; i++)
		ring_close(&rings->ring[i]);
	rings->count = 0;
}

int rings_cover(const struct rings *rings, struct coverage *coverage,
		const struct perf_request *request, pid_t tid)
{
	struct perf_request one = *request;

	for (unsigned i = 0; i < rings->count; i++) {
		int err, fd;

		one.cpu = rings->ring[i].cpu + 1;
		err = coverage_add(coverage, &one, tid);
		if (err)
			return err;
		fd = coverage->roots[coverage->count - 1].fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, rings->ring[i].fd))
			return -errno;
	}
	return 0;
}

void rings_look(struct rings *rings)
{
	for (unsigned i = 0; i < rings->count; i++)
		ring_look(&rings->ring[i]);
}

/* The next record of a ring and its time: every record but a sample ends with it (sample_id_all).
 */
static bool peek(const struct ring *ring, struct perf_event_header *header, uint64_t *time)
{
	if (ring->tail + sizeof(*header) > ring->head)
		return false;
	ring_copy(ring, ring->tail, header, sizeof(*header));
	if (header->size < sizeof(*header) + sizeof(*time))
		return false;
	ring_copy(ring,
		  ring->tail + (header->type == PERF_RECORD_SAMPLE ? RINGS_SAMPLE_TIME_OFFSET
								   : header->size - sizeof(*time)),
		  time, sizeof(*time));
	return true;
}

struct ring *rings_earliest(struct rings *rings, struct perf_event_header *header)
{
	struct ring *found = NULL;
	uint64_t first = 0;

	for (unsigned i = 0; i < rings->count; i++) {
		struct perf_event_header next;
		uint64_t time;

		if (!peek(&rings->ring[i], &next, &time) || (found && time >= first))
			continue;
		found = &rings->ring[i];
		first = time;
		*header = next;
	}
	return found;
}
