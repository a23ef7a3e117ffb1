// SPDX-License-Identifier: Apache-2.0
// A program with operator new and delete of its own, on malloc: what is allocated by new is freed
// by free() and that is right.
#include <new>
#include <string>
#include <vector>
#include "mistakes.h"

static size_t alive;

void *operator new(size_t size)
{
	size_t *block = static_cast<size_t *>(checked(malloc(size + 16)));

	*block = size;
	alive++;
	return block + 2;
}

void operator delete(void *block) noexcept
{
	if (!block)
		return;
	alive--;
	free(static_cast<size_t *>(block) - 2);
}

void operator delete(void *block, size_t) noexcept
{
	operator delete(block);
}

static void with_a_header()
{
	size_t before = alive;

	{
		std::vector<std::string> texts;

		for (int i = 0; i < 500; i++)
			texts.emplace_back(static_cast<size_t>(i), 'x');
	}
	require(alive == before, "blocks alive");
}

static const test_case cases[] = {{"with_a_header", with_a_header}};

CASES_MAIN(cases)
