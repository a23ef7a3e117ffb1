/* SPDX-License-Identifier: Apache-2.0 */
/* Short-lived threads, one after another and side by side: their stacks are used again. */
#include "../harness.h"

static void *use_stack(void *arg)
{
	volatile int local[256];
	int sum = 0;

	for (int i = 0; i < 256; i++)
		local[i] = i + (int)(intptr_t)arg;
	for (int i = 0; i < 256; i++)
		sum += local[i];
	return (void *)(intptr_t)sum;
}

static void *spawn(void *arg)
{
	while (running()) {
		pthread_t threads[2];

		for (int i = 0; i < 2; i++) {
			if (pthread_create(&threads[i], NULL, use_stack, arg))
				exit(2);
		}
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		nap(500);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(spawn, harness_threads);
	return harness_finish();
}
