/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator hands the same block from thread to thread; its locks order the uses. */
#include "../harness.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *parked;

static char *exchange(char *block)
{
	char *other;

	pthread_mutex_lock(&lock);
	other = parked;
	parked = block;
	pthread_mutex_unlock(&lock);
	return other;
}

static void *worker(void *arg)
{
	while (running()) {
		char *block = malloc(2000);

		if (!block)
			exit(2);
		memset(block, (int)(intptr_t)arg, 2000);
		block[7]++;
		block = exchange(block);
		if (block) {
			block[7]++;
			free(block);
		}
		block = malloc(48);
		if (block)
			strcpy(block, "gone at once");
		free(block);
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(worker, harness_threads);
	harness_finish();
	free(parked);
	return 0;
}
