/* SPDX-License-Identifier: Apache-2.0 */
/* RLIMIT_AS a little above what is in use: allocations and threads fail, the program does not. */
#include "hostile.h"

static long used_kilobytes(void)
{
	long pages;
	FILE *file = fopen("/proc/self/statm", "r");

	expect(file && fscanf(file, "%ld", &pages) == 1);
	fclose(file);
	return pages * 4;
}

int main(void)
{
	struct rlimit limit;
	int refused = 0;
	void *block;

	noise_start();
	nap(300000);
	limit.rlim_cur = limit.rlim_max = (rlim_t)(used_kilobytes() + 4096) * 1024;
	expect(setrlimit(RLIMIT_AS, &limit) == 0);
	for (int i = 0; i < 100; i++) {
		pthread_t thread;

		block = malloc(8 << 20);
		refused += block == NULL;
		free(block);
		refused += pthread_create(&thread, NULL, noise_body, NULL) == EAGAIN;
		nap(20000);
	}
	noise_stop();
	say("%d refused", refused);
	return 0;
}
