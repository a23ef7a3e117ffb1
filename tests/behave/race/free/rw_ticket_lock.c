/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock of readers and writers as folly's RWTicketSpinLock: a writer stores two of its numbers at
 * once, as it is done, while others wait for one of them. All of it is atomic.
 */
#include "../harness.h"
#include <sched.h>

static union {
	uint64_t whole;
	uint32_t read_write;
	struct {
		uint16_t write, read, users;
	} number;
} ticket;
static unsigned long guarded[4];

static void wait_for_it(void)
{
	static __thread unsigned turns;

	__asm__ volatile("pause");
	if (++turns % 64 == 0)
		sched_yield();
}

static void write_lock(void)
{
	uint16_t mine = __atomic_fetch_add(&ticket.number.users, 1, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&ticket.number.write, __ATOMIC_ACQUIRE) != mine)
		wait_for_it();
}

static void write_unlock(void)
{
	uint32_t numbers = __atomic_load_n(&ticket.read_write, __ATOMIC_RELAXED);
	uint16_t write = (uint16_t)(numbers + 1), read = (uint16_t)((numbers >> 16) + 1);

	__atomic_store_n(&ticket.read_write, (uint32_t)read << 16 | write, __ATOMIC_RELEASE);
}

static int try_read_lock(void)
{
	uint64_t old = __atomic_load_n(&ticket.whole, __ATOMIC_RELAXED);
	uint16_t read = (uint16_t)(old >> 16);
	uint64_t free = (old & 0xffffffff) | (uint64_t)read << 32;
	uint64_t mine = (old & 0xffff) | (uint64_t)(uint16_t)(read + 1) << 16 |
			(uint64_t)(uint16_t)(read + 1) << 32;

	return __atomic_compare_exchange_n(&ticket.whole, &free, mine, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void read_unlock(void)
{
	__atomic_fetch_add(&ticket.number.write, 1, __ATOMIC_RELEASE);
}

static void *writer(void *arg)
{
	(void)arg;
	while (running()) {
		write_lock();
		for (int i = 0; i < 4; i++)
			guarded[i]++;
		work(30);
		write_unlock();
		pace_hot();
	}
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	while (running()) {
		if (try_read_lock()) {
			if (guarded[0] != guarded[3])
				exit(1);
			read_unlock();
		}
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(writer, harness_threads - 1);
	harness_start(reader, 1);
	return harness_finish();
}
