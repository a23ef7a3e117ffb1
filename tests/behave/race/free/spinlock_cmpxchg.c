/* SPDX-License-Identifier: Apache-2.0 */
/* A spinlock of inline assembly: LOCK CMPXCHG takes it, a plain MOV frees it. */
#include "../harness.h"

static int lock_word;
static long guarded;
static long also_guarded;

static void spin_lock(int *lock)
{
	int expected;

	do {
		expected = 0;
		__asm__ volatile("lock cmpxchgl %2, %1"
				 : "+a"(expected), "+m"(*lock)
				 : "r"(1)
				 : "memory", "cc");
		if (expected)
			nap(100);
	} while (expected);
}

static void spin_unlock(int *lock)
{
	__asm__ volatile("movl $0, %0" : "=m"(*lock) : : "memory");
}

static void *worker(void *arg)
{
	(void)arg;
	while (running()) {
		spin_lock(&lock_word);
		guarded++;
		also_guarded += guarded;
		spin_unlock(&lock_word);
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
