/* SPDX-License-Identifier: Apache-2.0 */
/* The program's library has an allocator that judges alignments as glibc does since 2.38, and that
 * is told sizes, as C has it since 2023. */
#include "mistakes.h"

void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

static void sizes_told(void)
{
	for (int i = 0; i < 100; i++) {
		free_sized(memset(checked(hidden(malloc(100 + i))), 1, 100 + i), 100 + i);
		free_aligned_sized(checked(hidden(aligned_alloc(64, 128))), 64, 128);
		free_sized(NULL, 0);
	}
}

static void no_power_of_two(void)
{
	for (int i = 0; i < 100; i++) {
		char *block = checked(hidden(aligned_alloc(64, 100)));

		block[99] = 1;
		free(block);
		errno = 0;
		require(!hidden(aligned_alloc(hidden((size_t)48), 96)) && errno == EINVAL,
			"aligned_alloc()");
		block = checked(hidden(memalign(hidden((size_t)48), 96)));
		block[95] = 1;
		free(block);
	}
}

static const struct test_case cases[] = {
	{"no_power_of_two", no_power_of_two},
	{"sizes_told", sizes_told},
};

CASES_MAIN(cases)
