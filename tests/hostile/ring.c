/* SPDX-License-Identifier: Apache-2.0 */
/* Reads by io_uring(7): by the kernel's own threads of this process, which write what is watched
 * and have no user's side, and by one that polls. */
#include "hostile.h"
#include <linux/io_uring.h>

#define ENTRIES 8
#define READS 300

static volatile long ring_word;

struct ring {
	int fd;
	struct io_uring_params params;
	char *rings;
	struct io_uring_sqe *entries;
};

static unsigned *word_at(const struct ring *ring, unsigned offset)
{
	return (unsigned *)(ring->rings + offset);
}

/* False: the kernel has none of it, or the administrator forbids it. */
static int open_ring(struct ring *ring, unsigned flags)
{
	size_t size;

	memset(ring, 0, sizeof(*ring));
	ring->params.flags = flags;
	ring->params.sq_thread_idle = 50;
	ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &ring->params);
	if (ring->fd < 0 || !(ring->params.features & IORING_FEAT_SINGLE_MMAP))
		return 0;
	size = ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe);
	if (size < ring->params.sq_off.array + ring->params.sq_entries * sizeof(unsigned))
		size = ring->params.sq_off.array + ring->params.sq_entries * sizeof(unsigned);
	ring->rings =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	ring->entries = mmap(NULL, ring->params.sq_entries * sizeof(struct io_uring_sqe),
			     PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
	expect(ring->rings != MAP_FAILED && (void *)ring->entries != MAP_FAILED);
	return 1;
}

static void submit_read(struct ring *ring, int from)
{
	unsigned *tail = word_at(ring, ring->params.sq_off.tail);
	unsigned mask = *word_at(ring, ring->params.sq_off.ring_mask);
	unsigned flags = IORING_ENTER_GETEVENTS, submit = 1;

	ring->entries[*tail & mask] = (struct io_uring_sqe){.opcode = IORING_OP_READ,
							    .flags = IOSQE_ASYNC,
							    .fd = from,
							    .addr = (uintptr_t)&ring_word,
							    .len = sizeof(ring_word)};
	word_at(ring, ring->params.sq_off.array)[*tail & mask] = *tail & mask;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (ring->params.flags & IORING_SETUP_SQPOLL) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		flags |= IORING_ENTER_SQ_WAKEUP;
	}
	while (syscall(SYS_io_uring_enter, ring->fd, submit, 1, flags, NULL, 0) < 0)
		expect(errno == EINTR);
}

static int take_result(struct ring *ring)
{
	unsigned *head = word_at(ring, ring->params.cq_off.head);
	const unsigned *tail = word_at(ring, ring->params.cq_off.tail);
	struct io_uring_cqe *results = (void *)(ring->rings + ring->params.cq_off.cqes);
	int result;

	while (*head == __atomic_load_n(tail, __ATOMIC_ACQUIRE))
		nap(100);
	result = results[*head & *word_at(ring, ring->params.cq_off.ring_mask)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

static void read_all(struct ring *ring, const char *how)
{
	int ends[2];
	long sum = 0;

	expect(pipe(ends) == 0);
	for (long i = 1; i <= READS; i++) {
		expect(write(ends[1], &i, sizeof(i)) == sizeof(i));
		submit_read(ring, ends[0]);
		expect(take_result(ring) == sizeof(i));
		sum += ring_word;
	}
	say("%s: %ld", how, sum);
	close(ends[0]);
	close(ends[1]);
	close(ring->fd);
}

int main(void)
{
	struct ring ring;

	if (!open_ring(&ring, 0))
		return SKIP;
	noise_start();
	read_all(&ring, "submitted");
	if (open_ring(&ring, IORING_SETUP_SQPOLL))
		read_all(&ring, "polled");
	noise_stop();
	return 0;
}
