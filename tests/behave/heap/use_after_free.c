/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of freed blocks: one a case. */
#include "accesses.h"

enum where { HERE, USED_IN_THREAD, FREED_IN_THREAD, USED_EARLY };

struct use {
	const char *name;
	access_function *how;
	size_t size;
	size_t offset;
	size_t length;
	unsigned same;	/* blocks that the same place allocates, uses and frees before */
	unsigned after; /* blocks that are allocated and freed between the free and the use, or,
			 * used early, after that */
	unsigned alive; /* further blocks of the same place that stay */
	enum where where;
};

static const struct use uses[] = {
	{"read_64", load, 64, 24, 1, 0, 0, 0, HERE},
	{"write_64", store, 64, 24, 8, 0, 0, 0, HERE},
	{"read_1", load, 1, 0, 1, 0, 0, 0, HERE},
	{"read_last_of_13", load, 13, 12, 1, 0, 0, 0, HERE},
	{"write_last_of_100", store, 100, 99, 1, 0, 0, 0, HERE},
	{"write_long_after", store, 1000, 500, 1, 0, 20000, 0, HERE},
	{"read_long_after", load, 40, 32, 8, 0, 20000, 0, HERE},
	{"read_one_of_many_alike", load_over_base, 64, 37, 1, 0, 0, 0, HERE},
	{"write_8k", store, 8192, 4000, 4, 0, 0, 0, HERE},
	{"read_8k_of_1000_alive", load, 8192, 5000, 8, 0, 0, 1000, HERE},
	{"read_100_of_1000_alive", load, 100, 50, 1, 0, 0, 1000, HERE},
	{"read_1m", load, 1 << 20, 777777, 4, 0, 0, 0, HERE},
	{"write_16m", store, 16 << 20, 9999999, 1, 0, 0, 0, HERE},
	{"read_hot_64", load, 64, 32, 4, 50000, 0, 0, HERE},
	{"memcpy_from_200", copy_by_memcpy, 200, 100, 60, 0, 0, 0, HERE},
	{"memset_200", fill_by_memset, 200, 100, 60, 0, 0, 0, HERE},
	{"strlen_of_80", measure_by_strlen, 80, 40, 0, 0, 0, 0, HERE},
	{"memcmp_of_120", compare_by_memcmp, 120, 64, 32, 0, 0, 0, HERE},
	{"read2_into_300", fill_by_read, 300, 100, 50, 0, 0, 0, HERE},
	{"recv_into_8k", fill_by_recv, 8192, 5000, 50, 0, 0, 0, HERE},
	{"write2_from_300", send_by_write, 300, 100, 50, 0, 0, 0, HERE},
	{"writev_from_64k", send_by_writev, 65536, 40000, 100, 0, 0, 0, HERE},
	{"unseen_write_to_200", fill_unseen, 200, 64, 8, 0, 0, 0, HERE},
	{"used_in_thread", store, 48, 32, 8, 0, 0, 0, USED_IN_THREAD},
	{"freed_in_thread", load, 48, 32, 8, 0, 0, 0, FREED_IN_THREAD},
	{"write_before_others", store, 64, 24, 8, 0, 60000, 0, USED_EARLY},
};

static const struct use *use;
static char *block;

static NOINLINE char *allocate_block(size_t size)
{
	char *made = checked(malloc(hidden(size)));

	stay();
	return made;
}

static NOINLINE void free_block(char *which)
{
	free(which);
	stay();
}

static NOINLINE void *use_block(void *argument)
{
	(void)argument;
	use->how(block + use->offset, use->length, 0);
	stay();
	return NULL;
}

static NOINLINE void *end_block(void *argument)
{
	(void)argument;
	free_block(hidden(block));
	return NULL;
}

/* Sizes that never share a free list with those above, nor reach them by merging. What others left
 * in the memory, rightly or not, is not to be seen. */
static NOINLINE void allocate_others(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		size_t size = 112 + i % 256;
		char *other = checked(hidden(calloc(1, size)));

		for (size_t at = 0; at < size; at++)
			require(!other[at], "zeroes");
		free(hidden(memset(other, 'o', size)));
	}
}

static NOINLINE void run(void)
{
	for (unsigned i = 0; i < use->alive; i++)
		memset(allocate_block(use->size), 1, 1);
	for (unsigned i = 0; i <= use->same; i++) {
		if (i)
			free_block(block);
		block = hidden(allocate_block(use->size));
		memset(block, 'm', use->size);
		block[use->size - 1] = 0;
	}
	/* A neighbour that stays: a large block does not merge with what lies behind it. */
	memset(checked(hidden(malloc(use->size))), 1, 1);
	if (use->where == FREED_IN_THREAD)
		in_thread(end_block, NULL);
	else
		end_block(NULL);
	if (use->where == USED_EARLY)
		use_block(NULL);
	allocate_others(use->after);
	if (use->where == USED_EARLY)
		return;
	if (use->where == USED_IN_THREAD)
		in_thread(use_block, NULL);
	else
		use_block(NULL);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(uses) / sizeof(uses[0]); i++) {
		if (strcmp(uses[i].name, argv[1]) != 0)
			continue;
		use = &uses[i];
		if (use->size >= 65536)
			keep_large_blocks_mapped();
		run();
		printf("%s: done\n", argv[1]);
		return 0;
	}
	fprintf(stderr, "usage: %s CASE; the manifest names them\n", argv[0]);
	return 2;
}
