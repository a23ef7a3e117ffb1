/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex on futex(2) by hand, with C11 atomics. */
#include "../harness.h"
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

/* 0: free, 1: taken, 2: taken and somebody waits. */
static atomic_int word;
static long balance;
static char history[64];

static void futex_lock(atomic_int *lock)
{
	int expected = 0;

	if (atomic_compare_exchange_strong_explicit(lock, &expected, 1, memory_order_acquire,
						    memory_order_relaxed))
		return;
	while (atomic_exchange_explicit(lock, 2, memory_order_acquire) != 0)
		syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void futex_unlock(atomic_int *lock)
{
	if (atomic_exchange_explicit(lock, 0, memory_order_release) == 2)
		syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *worker(void *arg)
{
	while (running()) {
		futex_lock(&word);
		balance += (intptr_t)arg;
		history[balance & 63]++;
		futex_unlock(&word);
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(worker, harness_threads);
	return harness_finish();
}
