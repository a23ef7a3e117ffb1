/* SPDX-License-Identifier: Apache-2.0 */
/* Parent and children use the same addresses, but each its own memory. */
#include "../harness.h"
#include <sys/wait.h>

static long counter;
static char *heap;

static void *count(void *arg)
{
	(void)arg;
	while (running()) {
		counter++;
		heap[counter & 63]++;
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int status, failed = 0;

	harness_init(argc, argv, 4);
	heap = calloc(1, 64);
	if (!heap)
		return 2;
	for (int i = 1; i < harness_threads; i++) {
		pid_t child = fork();

		if (child < 0)
			return 2;
		if (child == 0) {
			harness_start(count, 1);
			_exit(harness_finish());
		}
	}
	harness_start(count, 1);
	harness_finish();
	while (wait(&status) > 0)
		failed |= status;
	free(heap);
	return failed != 0;
}
