/* SPDX-License-Identifier: Apache-2.0 */
/* A Treiber stack with a version tag beside its index, compare-exchanged as one word. */
#include "../harness.h"
#include <atomic>

struct Node {
	std::atomic<unsigned> next{0};
	int payload = 0;
};

static Node nodes[65];
static std::atomic<unsigned long> head{0};

static void push(unsigned index)
{
	unsigned long old = head.load(std::memory_order_relaxed);
	unsigned long replacement;

	do {
		nodes[index].next.store((unsigned)old, std::memory_order_relaxed);
		replacement = ((old >> 32) + 1) << 32 | index;
	} while (!head.compare_exchange_weak(old, replacement, std::memory_order_release,
					     std::memory_order_relaxed));
}

static unsigned pop()
{
	unsigned long old = head.load(std::memory_order_acquire);
	unsigned long replacement;

	do {
		unsigned index = (unsigned)old;

		if (!index)
			return 0;
		replacement = ((old >> 32) + 1) << 32 |
			      nodes[index].next.load(std::memory_order_relaxed);
	} while (!head.compare_exchange_weak(old, replacement, std::memory_order_acquire,
					     std::memory_order_acquire));
	return (unsigned)old;
}

static void *worker(void *)
{
	while (running()) {
		unsigned index = pop();

		if (index) {
			nodes[index].payload++;
			push(index);
		}
		pace_hot();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	for (unsigned i = 1; i <= 64; i++)
		push(i);
	harness_start(worker, harness_threads);
	return harness_finish();
}
