// SPDX-License-Identifier: Apache-2.0
// A program that takes the addresses of allocation functions and of operators. Linked to a fixed
// address it has entries for them in its own file, which the dynamic linker takes for the
// functions' addresses everywhere.
#include "mistakes.h"

#include <new>

using releaser = void (*)(void *);

static NOINLINE char *allocate_plain(size_t size)
{
	char *block = static_cast<char *>(checked(malloc(hidden(size))));

	stay();
	return block;
}

static NOINLINE char *allocate_new(size_t size)
{
	char *block = static_cast<char *>(operator new(hidden(size)));

	stay();
	return block;
}

static NOINLINE void release_by(releaser release, void *block)
{
	release(hidden(block));
	stay();
}

static NOINLINE bool is_release(releaser release)
{
	return release == static_cast<releaser>(free) ||
	       release == static_cast<releaser>(operator delete) || release == hidden(releaser());
}

static NOINLINE void store_at(volatile char *block, size_t at)
{
	block[at] = 0;
	stay();
}

static void write_past_13()
{
	char *block = allocate_plain(13), *next = allocate_plain(13);

	store_at(block, hidden(13));
	require(is_release(hidden(static_cast<releaser>(free))), "the address of free()");
	release_by(free, block);
	release_by(free, next);
}

static void new_then_free()
{
	release_by(free, allocate_new(33));
	require(is_release(hidden(static_cast<releaser>(operator delete))),
		"the address of operator delete");
}

static void released_right()
{
	release_by(free, allocate_plain(33));
	release_by(operator delete, allocate_new(33));
	require(is_release(free), "the address of free()");
}

static const test_case cases[] = {
	{"write_past_13", write_past_13},
	{"new_then_free", new_then_free},
	{"released_right", released_right},
};

CASES_MAIN(cases)
