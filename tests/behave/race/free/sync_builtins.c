/* SPDX-License-Identifier: Apache-2.0 */
/* The old __sync builtins: counters, a lock, compare and swap. */
#include "../harness.h"

static long counter;
static int lock;
static long guarded;
static void *head;

static void *worker(void *arg)
{
	while (running()) {
		__sync_fetch_and_add(&counter, 1);
		while (__sync_lock_test_and_set(&lock, 1))
			nap(100);
		guarded++;
		__sync_lock_release(&lock);
		(void)__sync_bool_compare_and_swap(&head, NULL, &counter);
		(void)__sync_val_compare_and_swap(&head, &counter, NULL);
		consume(arg);
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
