/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/ring.h"

#include "base/syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t mapping_size(const struct ring *ring)
{
	return (1 + ring->pages) * 4096;
}

static int map(struct ring *ring, size_t least, size_t most)
{
	void *page = MAP_FAILED;

	for (ring->pages = most; ring->pages >= least; ring->pages /= 2) {
		page = mmap(NULL, mapping_size(ring), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			    0);
		if (page != MAP_FAILED)
			break;
	}
	if (page == MAP_FAILED)
		return -errno;
	ring->page = page;
	return 0;
}

int ring_open(struct ring *ring, const struct perf_event_attr *attributes, pid_t pid, int cpu,
	      size_t least, size_t most)
{
	int err;

	ring->cpu = cpu;
	ring->fd = raw_perf_event_open(attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return ring->fd;
	err = map(ring, least, most);
	if (err)
		close(ring->fd);
	return err;
}

int ring_map_again(struct ring *ring)
{
	return map(ring, ring->pages, ring->pages);
}

void ring_close(struct ring *ring)
{
	munmap(ring->page, mapping_size(ring));
	close(ring->fd);
}

void ring_look(struct ring *ring)
{
	/* Acquire: the records before data_head are written. Pairs with the kernel's store. */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

void ring_copy(const struct ring *ring, uint64_t from, void *to, size_t length)
{
	const uint8_t *data = (const uint8_t *)ring->page + ring->page->data_offset;
	uint64_t mask = ring->page->data_size - 1;
	size_t first = ring->page->data_size - (from & mask);

	if (first > length)
		first = length;
	memcpy(to, data + (from & mask), first);
	memcpy((uint8_t *)to + first, data, length - first);
}

void ring_release(const struct ring *ring)
{
	/* Release: the records have been read. Pairs with the kernel's load. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
