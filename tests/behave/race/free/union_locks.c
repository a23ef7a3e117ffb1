/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of a union's parts by atomic operations: a ticket lock that is tried as a whole and given
 * back by one half, and a queued spin lock's word whose first byte is the lock. Without debug
 * information a store to a part meets a load of the whole.
 */
#include "../harness.h"
#include <sched.h>

static union {
	uint32_t whole;
	struct {
		uint16_t served, next;
	} half;
} ticket;
static union {
	uint32_t whole;
	uint8_t locked;
} word;
static unsigned long tickets, words;

static void wait_for_it(void)
{
	static __thread unsigned turns;

	__asm__ volatile("pause");
	if (++turns % 64 == 0)
		sched_yield();
}

static void take_ticket(void)
{
	uint16_t mine = __atomic_fetch_add(&ticket.half.next, 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&ticket.half.served, __ATOMIC_ACQUIRE) != mine)
		wait_for_it();
}

static int try_ticket(void)
{
	uint32_t seen = __atomic_load_n(&ticket.whole, __ATOMIC_RELAXED);

	return seen >> 16 == (seen & 0xffff) &&
	       __atomic_compare_exchange_n(&ticket.whole, &seen, seen + 0x10000, 0,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void give_ticket(void)
{
	uint16_t served = __atomic_load_n(&ticket.half.served, __ATOMIC_RELAXED);

	__atomic_store_n(&ticket.half.served, served + 1, __ATOMIC_RELEASE);
}

static void take_word(void)
{
	uint32_t none = 0;

	while (!__atomic_compare_exchange_n(&word.whole, &none, 1, 0, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		none = 0;
		while (__atomic_load_n(&word.whole, __ATOMIC_RELAXED))
			wait_for_it();
	}
}

static void give_word(void)
{
	__atomic_store_n(&word.locked, 0, __ATOMIC_RELEASE);
}

static void *worker(void *arg)
{
	(void)arg;
	while (running()) {
		take_ticket();
		tickets++;
		work(20);
		give_ticket();
		if (try_ticket()) {
			tickets++;
			work(20);
			give_ticket();
		}
		take_word();
		words++;
		work(30);
		give_word();
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(worker, harness_threads);
	harness_finish();
	return words == 0 || tickets < words;
}
