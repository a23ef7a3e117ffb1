/* SPDX-License-Identifier: Apache-2.0 */
/* qsort() rearranges an array in place while another thread searches it. */
#include "../harness.h"

#define ENTRIES 64

static int entries[ENTRIES];

static int compare(const void *left, const void *right)
{
	int a = *(const int *)left;  /* RACE a */
	int b = *(const int *)right; /* RACE a */

	return (a > b) - (a < b);
}

static void *sort(void *arg)
{
	unsigned seed = 1;

	(void)arg;
	while (running()) {
		for (int i = 0; i < ENTRIES; i += 5) {
			seed = seed * 1664525 + 1013904223;
			entries[i] = (int)(seed >> 8); /* RACE a */
		}
		qsort(entries, ENTRIES, sizeof(entries[0]), compare); /* RACE a */
		nap(1000);
	}
	return NULL;
}

static void *search(void *arg)
{
	unsigned key = (unsigned)(uintptr_t)arg;

	while (running()) {
		int place = 0;

		while (place < ENTRIES && entries[place] < (int)(key >> 8)) /* RACE a */
			place++;
		consume(place);
		key = key * 1664525 + 1013904223;
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(sort, 1);
	harness_start(search, harness_threads - 1);
	return harness_finish();
}
