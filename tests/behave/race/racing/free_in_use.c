/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer is freed while another thread, which was handed it, still reads it. Nobody writes to it:
 * only free() itself does where the other thread reads. */
#include "../harness.h"

static unsigned long *current;

static void *owner(void *arg)
{
	while (running()) {
		unsigned long *buffer = malloc(64); /* RACE a */

		if (!buffer)
			exit(2);
		__atomic_store_n(&current, buffer, __ATOMIC_RELEASE);
		nap(100);
		__atomic_store_n(&current, NULL, __ATOMIC_RELEASE);
		free(buffer); /* RACE a */
	}
	return arg;
}

static void *reader(void *arg)
{
	unsigned long sum = 0;

	while (running()) {
		const unsigned long *buffer = __atomic_load_n(&current, __ATOMIC_ACQUIRE);

		if (!buffer)
			continue;
		for (int i = 0; i < 300; i++) {
			sum += buffer[0]; /* RACE a */
			sum += buffer[1]; /* RACE a */
			work(3000);
		}
	}
	consume(sum);
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(owner, 1);
	harness_start(reader, harness_threads - 1);
	return harness_finish();
}
