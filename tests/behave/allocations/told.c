/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates and frees all the time, and prints what CPU time that took, in ns. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS 100000

int main(void)
{
	struct timespec used;

	for (int i = 0; i < BLOCKS; i++) {
		char *volatile block = malloc(40);

		if (!block)
			return 1;
		*block = 1;
		free(block);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("%lld\n", used.tv_sec * 1000000000ll + used.tv_nsec);
	return 0;
}
