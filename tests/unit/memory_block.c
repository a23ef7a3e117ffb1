/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of this process's own heap, found from their headers; memory that is none is none. */
#include "memory/block.h"

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define BLOCKS 200

static bool find(const void *place, struct symbol_block *block)
{
	struct symbol_memory memory = symbol_memory_of_process(getpid());
	const struct symbol_mapping *mapping;
	struct symbol_mappings mappings;
	bool found;

	assert_int_equal(symbol_mappings_read(getpid(), &mappings), 0);
	mapping = symbol_mappings_find(&mappings, (uintptr_t)place);
	found = mapping && symbol_block_find(&memory, mapping, (uintptr_t)place, block);
	symbol_mappings_free(&mappings);
	return found;
}

static void expect_block(char *place)
{
	size_t usable = malloc_usable_size(place);
	struct symbol_block block;

	for (size_t offset = 0; offset < usable; offset += usable / 2 + 1) {
		assert_true(find(place + offset, &block));
		assert_ptr_equal((void *)block.address, place);
		assert_int_equal(block.size, usable);
	}
}

static void expect_blocks(void)
{
	char *place[BLOCKS];

	for (size_t i = 0; i < BLOCKS; i++) {
		place[i] = malloc(i * i + 1);
		assert_non_null(place[i]);
	}
	for (size_t i = 0; i < BLOCKS; i += 7)
		expect_block(place[i]);
	for (size_t i = 0; i < BLOCKS; i++)
		free(place[i]);
}

static void *in_thread(void *unused)
{
	expect_blocks();
	return unused;
}

static void test_main_arena(void **state)
{
	(void)state;
	expect_blocks();
}

static void test_arena_of_a_thread(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, in_thread, NULL), 0);
	pthread_join(thread, NULL);
}

static void test_mapped_by_itself(void **state)
{
	char *place = malloc(3 << 20);

	(void)state;
	assert_non_null(place);
	expect_block(place);
	free(place);
}

static void test_not_glibc(void **state)
{
	char *place =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct symbol_block block;

	(void)state;
	assert_ptr_not_equal(place, MAP_FAILED);
	/* A neighbour may have joined the mapping: what matters is that this is no block. */
	assert_false(find(place + 4096, &block));
	munmap(place, 1 << 20);
}

int main(void)
{
#ifdef __SANITIZE_ADDRESS__
	puts("AddressSanitizer's allocator stands in for glibc's, whose blocks this is about");
	return 77;
#endif
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_main_arena),
		cmocka_unit_test(test_arena_of_a_thread),
		cmocka_unit_test(test_mapped_by_itself),
		cmocka_unit_test(test_not_glibc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
