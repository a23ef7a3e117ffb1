/* SPDX-License-Identifier: Apache-2.0 */
/* A lock of __atomic_test_and_set and __atomic_clear, whose release is a plain MOV on x86. */
#include "../harness.h"
#include <stdbool.h>

static bool taken;
static unsigned long count;

static void *worker(void *arg)
{
	(void)arg;
	while (running()) {
		while (__atomic_test_and_set(&taken, __ATOMIC_ACQUIRE))
			nap(100);
		count++;
		__atomic_clear(&taken, __ATOMIC_RELEASE);
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
