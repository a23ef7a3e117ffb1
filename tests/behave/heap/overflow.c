/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses past the end and before the beginning of blocks: one a case. */
#include "accesses.h"

enum form { MALLOC, CALLOC, ALIGNED, VALLOC, SHRUNK };

/* Alone: no block is made after it, whose watches would take the place of its own. */
enum where { HERE, IN_THREAD, ALONE };

struct overflow {
	const char *name;
	access_function *how;
	size_t size;
	ptrdiff_t offset;
	size_t length;
	enum form form;
	unsigned same;	 /* blocks that the same place allocates before */
	unsigned others; /* blocks that another place allocates before */
	enum where where;
};

static const struct overflow overflows[] = {
	{"write_past_1", store, 1, 1, 1, MALLOC, 0, 0, HERE},
	{"write_past_13", store, 13, 13, 1, MALLOC, 0, 0, HERE},
	{"write_3_past_13", store, 13, 16, 1, MALLOC, 0, 0, HERE},
	{"write_past_16", store, 16, 16, 1, MALLOC, 0, 0, HERE},
	{"write_past_17", store, 17, 17, 1, MALLOC, 0, 0, HERE},
	{"write_past_24", store, 24, 24, 1, MALLOC, 0, 0, HERE},
	{"write_past_32", store, 32, 32, 1, MALLOC, 0, 0, HERE},
	{"write_past_100", store, 100, 100, 1, MALLOC, 0, 0, HERE},
	{"write_past_4096", store, 4096, 4096, 1, MALLOC, 0, 0, HERE},
	{"write_past_8192", store, 8192, 8192, 1, MALLOC, 0, 0, HERE},
	{"write_past_1m", store, 1 << 20, 1 << 20, 1, MALLOC, 0, 0, HERE},
	{"write_8_over_end_of_20", store, 20, 16, 8, MALLOC, 0, 0, HERE},
	{"read_past_13", load, 13, 13, 1, MALLOC, 0, 0, HERE},
	{"read_past_24", load, 24, 24, 1, MALLOC, 0, 0, HERE},
	{"read_6_past_10", load, 10, 16, 1, MALLOC, 0, 0, ALONE},
	{"read_past_8192", load, 8192, 8192, 1, MALLOC, 0, 0, HERE},
	{"read_past_16m", load, 16 << 20, 16 << 20, 1, MALLOC, 0, 0, HERE},
	{"read_4_over_end_of_102", load, 102, 100, 4, MALLOC, 0, 0, HERE},
	{"read_8_over_end_of_20", load, 20, 16, 8, MALLOC, 0, 0, HERE},
	{"read_8_over_end_and_base", load_over_base, 24, 17, 8, MALLOC, 0, 0, HERE},
	{"write_before_16", store, 16, -1, 1, MALLOC, 0, 0, HERE},
	{"write_before_4096", store, 4096, -1, 1, MALLOC, 0, 0, HERE},
	{"read_before_32", load, 32, -1, 1, MALLOC, 0, 0, HERE},
	{"read_8_before_100", load, 100, -8, 8, MALLOC, 0, 0, HERE},
	{"write_32_before_400", store, 400, -32, 4, MALLOC, 0, 0, HERE},
	{"write_64_before_100", store, 100, -64, 8, MALLOC, 0, 0, HERE},
	{"memcpy_past_13", fill_by_memcpy, 13, 0, 14, MALLOC, 0, 0, HERE},
	{"memcpy_from_past_100", copy_by_memcpy, 100, 0, 104, MALLOC, 0, 0, HERE},
	{"memcpy_from_past_50", copy_by_memcpy, 50, 0, 64, MALLOC, 0, 0, HERE},
	{"memcmp_past_30", compare_by_memcmp, 30, 0, 32, MALLOC, 0, 0, HERE},
	{"strlen_of_unterminated_13", measure_unterminated, 13, 0, 13, MALLOC, 0, 0, HERE},
	{"strlen_of_unterminated_48", measure_unterminated, 48, 0, 48, MALLOC, 0, 0, HERE},
	{"strcpy_from_unterminated_40", copy_unterminated, 40, 0, 40, MALLOC, 0, 0, HERE},
	{"memset_past_41", fill_by_memset, 41, 0, 43, MALLOC, 0, 0, HERE},
	{"strcpy_past_9", fill_by_strcpy, 9, 0, 10, MALLOC, 0, 0, HERE},
	{"strcat_past_50", fill_by_strcat, 50, 0, 51, MALLOC, 0, 0, HERE},
	{"sprintf_past_20", fill_by_sprintf, 20, 0, 23, MALLOC, 0, 0, HERE},
	{"read2_past_13", fill_by_read, 13, 0, 16, MALLOC, 0, 0, HERE},
	{"write2_past_13", send_by_write, 13, 0, 24, MALLOC, 0, 0, HERE},
	{"readv_past_17", fill_by_readv, 17, 0, 20, MALLOC, 0, 0, HERE},
	{"writev_past_100", send_by_writev, 100, 0, 102, MALLOC, 0, 0, HERE},
	{"write2_9_past_45", send_by_write, 45, 0, 54, MALLOC, 0, 0, ALONE},
	{"stat_past_140", fill_by_stat, 140, 0, 144, MALLOC, 0, 0, HERE},
	{"uname_past_385", fill_by_uname, 385, 0, 390, MALLOC, 0, 0, HERE},
	{"getsockopt_past_9", fill_by_getsockopt, 9, 0, 12, MALLOC, 0, 0, HERE},
	{"poll_past_44", ask_by_poll, 44, 0, 48, MALLOC, 0, 0, HERE},
	{"unseen_write_past_13", fill_unseen, 13, 13, 2, MALLOC, 0, 0, HERE},
	{"write_past_calloc_21", store, 21, 21, 1, CALLOC, 0, 0, HERE},
	{"write_past_aligned_100", store, 100, 100, 1, ALIGNED, 0, 0, HERE},
	{"write_past_valloc_4000", store, 4000, 4000, 1, VALLOC, 0, 0, HERE},
	{"write_past_shrunk_50", store, 50, 50, 1, SHRUNK, 0, 0, HERE},
	{"write_past_hot_13", store, 13, 13, 1, MALLOC, 50000, 0, HERE},
	{"read_past_rare_100", load, 100, 100, 1, MALLOC, 0, 50000, HERE},
	{"read_40_before_second", load, 100, -40, 4, MALLOC, 1, 0, HERE},
	{"read_400_before_second", load, 64, -400, 8, MALLOC, 1, 0, HERE},
	{"read_before_second_aligned", load, 128, -100, 1, ALIGNED, 1, 0, HERE},
	{"write_past_second_50", store, 50, 50, 1, MALLOC, 1, 0, HERE},
	{"read_past_second_50", load, 50, 52, 1, MALLOC, 1, 0, HERE},
	{"write_past_in_thread", store, 33, 33, 1, MALLOC, 0, 0, IN_THREAD},
};

static NOINLINE char *allocate_block(const struct overflow *overflow)
{
	void *block = NULL;

	switch (overflow->form) {
	case MALLOC:
		block = malloc(hidden(overflow->size));
		break;
	case CALLOC:
		block = calloc(hidden(overflow->size) / 7, 7);
		break;
	case ALIGNED:
		if (posix_memalign(&block, 64, hidden(overflow->size)))
			block = NULL;
		break;
	case VALLOC:
		block = valloc(hidden(overflow->size));
		break;
	case SHRUNK:
		block = realloc(checked(malloc(2 * hidden(overflow->size))), overflow->size);
		break;
	}
	stay();
	return checked(block);
}

static NOINLINE void free_block(char *block)
{
	free(block);
	stay();
}

static NOINLINE void allocate_others(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free(checked(hidden(malloc(16 + i % 200))));
}

static NOINLINE void *access_block(void *argument)
{
	const struct overflow *overflow = argument;
	char *block = NULL, *neighbour = NULL;

	allocate_others(overflow->others);
	/* One place in the code allocates all of them: one context. */
	for (unsigned i = 0; i <= overflow->same; i++) {
		free(block);
		block = allocate_block(overflow);
	}
	if (overflow->where != ALONE)
		neighbour = checked(hidden(malloc(overflow->size)));
	memset(block, 'm', overflow->size);
	block[overflow->size - 1] = 0;
	overflow->how(hidden(block) + overflow->offset, overflow->length,
		      overflow->offset < 0 ? 0 : next_size_byte(overflow->size));
	free_block(block);
	(void)neighbour; /* see mistakes.h */
	return NULL;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(overflows) / sizeof(overflows[0]); i++) {
		if (strcmp(overflows[i].name, argv[1]) != 0)
			continue;
		if (overflows[i].where == IN_THREAD)
			in_thread(access_block, (void *)&overflows[i]);
		else
			access_block((void *)&overflows[i]);
		printf("%s: done\n", argv[1]);
		return 0;
	}
	fprintf(stderr, "usage: %s CASE; the manifest names them\n", argv[0]);
	return 2;
}
