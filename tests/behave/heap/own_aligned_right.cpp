// SPDX-License-Identifier: Apache-2.0
// A program with aligned operators new and delete of its own alone, on memory that malloc() does
// not know. The C++ library's sized and nothrow ones call these.
#include <cstddef>
#include <new>
#include "mistakes.h"

static std::max_align_t pool[4096];
static size_t taken, alive;

void *operator new(size_t size, std::align_val_t alignment)
{
	size_t begin = (taken + static_cast<size_t>(alignment) - 1) &
		       ~(static_cast<size_t>(alignment) - 1);

	require(begin + size <= sizeof(pool), "the pool");
	taken = begin + size;
	alive++;
	return reinterpret_cast<char *>(pool) + begin;
}

void operator delete(void *block, std::align_val_t) noexcept
{
	if (block && --alive == 0)
		taken = 0;
}

struct alignas(64) wide {
	char byte[64];
};

static void from_a_pool()
{
	for (int i = 0; i < 1000; i++) {
		wide *one = new wide, *other = new (std::nothrow) wide;
		int *number = new int(i);

		require(alive == 2, "blocks of the pool");
		delete other;
		delete one;
		require(*number == i, "a number");
		delete number;
	}
	require(!alive, "blocks alive");
}

static const test_case cases[] = {{"from_a_pool", from_a_pool}};

CASES_MAIN(cases)
