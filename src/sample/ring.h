/* SPDX-License-Identifier: Apache-2.0 */
/* An event and the ring that the kernel writes its records to (perf_event_open(2), "MMAP layout").
 */
#ifndef SAMPLE_RING_H
#define SAMPLE_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ring {
	int fd, cpu;
	size_t pages; /* of data */
	struct perf_event_mmap_page *page;
	uint64_t head; /* records before it may be read; see ring_look() */
	uint64_t tail; /* the next record: the reader moves it on */
};

/* With as many pages of data as may be had: powers of two from `most` down to `least`. What an
 * unprivileged user may lock in memory is little (perf_event_mlock_kb). 0 or -errno. */
int ring_open(struct ring *ring, const struct perf_event_attr *attributes, pid_t pid, int cpu,
	      size_t least, size_t most);
/* In a forked process, which has no mapping of it. 0 or -errno. */
int ring_map_again(struct ring *ring);
void ring_close(struct ring *ring);

/* How far the kernel has written. */
void ring_look(struct ring *ring);

/* `length` bytes in one piece, though they may wrap around the end of the ring. */
void ring_copy(const struct ring *ring, uint64_t from, void *to, size_t length);

/* All before ring->tail has been read: the kernel may write over it. */
void ring_release(const struct ring *ring);

#endif
