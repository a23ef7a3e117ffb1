// SPDX-License-Identifier: Apache-2.0
// Correct uses of operator new and delete in all forms, and of containers: one a case.
#include <list>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
#include "mistakes.h"

struct alignas(128) wide {
	char bytes[256];
};

struct counted {
	~counted()
	{
		bytes[99] = 0;
	}
	char bytes[100] = {};
};

static void every_form()
{
	for (size_t size = 1; size < 6000; size += 1 + size / 4) {
		void *plain = hidden(operator new(size));
		void *array = hidden(operator new[](size));
		void *quiet = hidden(operator new(size, std::nothrow));
		void *aligned = hidden(operator new(size, std::align_val_t(256)));
		void *aligned_array = hidden(operator new[](size, std::align_val_t(64)));

		for (void *block : {plain, array, quiet, aligned, aligned_array})
			memset(block, 1, size);
		require(reinterpret_cast<uintptr_t>(aligned) % 256 == 0, "alignment");
		operator delete(plain, size);
		operator delete[](array, size);
		operator delete(quiet, std::nothrow);
		operator delete(aligned, size, std::align_val_t(256));
		operator delete[](aligned_array, std::align_val_t(64));
	}
}

static void objects()
{
	for (int i = 0; i < 300; i++) {
		std::unique_ptr<wide> one(new wide);
		std::unique_ptr<counted[]> many(new counted[i % 40 + 1]);
		alignas(counted) char place[sizeof(counted)];
		counted *placed = new (place) counted;

		memset(one->bytes, 1, sizeof(one->bytes));
		placed->~counted();
	}
	operator delete(hidden(static_cast<void *>(nullptr)));
}

static void containers()
{
	std::map<int, std::string> tree;
	std::unordered_map<std::string, int> table;
	std::list<std::vector<int>> chain;

	for (int i = 0; i < 3000; i++) {
		tree[i % 700] += std::to_string(i);
		table["key " + std::to_string(i % 500)]++;
		chain.emplace_back(i % 50, i);
		if (chain.size() > 100)
			chain.pop_front();
		if (i % 3 == 0)
			tree.erase(i % 350);
	}
	require(table.size() == 500, "a table's size");
}

static NOINLINE void throw_at(int depth)
{
	std::string text(static_cast<size_t>(depth) * 10 + 20, 'e');

	if (depth == 0)
		throw std::runtime_error(text);
	throw_at(depth - 1);
}

static void exceptions()
{
	int caught = 0;

	for (int i = 0; i < 200; i++) {
		try {
			throw_at(i % 10);
		} catch (const std::exception &error) {
			caught += static_cast<int>(strlen(error.what())) == 20;
		}
	}
	require(caught == 200, "exceptions");
	try {
		operator delete(operator new(hidden(static_cast<size_t>(PTRDIFF_MAX))));
		require(false, "bad_alloc");
	} catch (const std::bad_alloc &) {
	}
}

static void shared_owners()
{
	std::vector<std::thread> threads;
	std::shared_ptr<std::string> text = std::make_shared<std::string>(100, 's');

	for (int i = 0; i < 4; i++)
		threads.emplace_back([text] {
			for (int round = 0; round < 2000; round++) {
				std::shared_ptr<std::string> copy = text;
				std::weak_ptr<std::string> weak = copy;
				std::string mine = *copy + "x";

				require(mine.size() == 101 && weak.lock(), "a shared text");
			}
		});
	text.reset();
	for (std::thread &thread : threads)
		thread.join();
}

static const test_case cases[] = {
	{"every_form", every_form},	  {"objects", objects},
	{"containers", containers},	  {"exceptions", exceptions},
	{"shared_owners", shared_owners},
};

CASES_MAIN(cases)
