// SPDX-License-Identifier: Apache-2.0
// Correct C++ that leaves much of its memory unwritten.
#include "cases.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

void check(bool holds)
{
	if (!holds)
		exit(4);
}

NOINLINE void strings()
{
	std::string text = "a text that is too long for the short form";

	for (int i = 0; i < 20; i++)
		text += std::to_string(i);
	check(text.find("19") != std::string::npos);
}

NOINLINE void vectors()
{
	std::vector<std::pair<char, long>> pairs;

	for (int i = 0; i < 100; i++)
		pairs.emplace_back(static_cast<char>(i), i * 7 % 100);
	std::sort(pairs.begin(), pairs.end(),
		  [](const auto &a, const auto &b) { return a.second < b.second; });
	check(pairs[5].second == 5);
}

NOINLINE void maps()
{
	std::map<int, std::string> tree;
	std::unordered_map<std::string, int> table;

	for (int i = 0; i < 60; i++) {
		tree[i] = std::to_string(i);
		table[std::to_string(i)] = i;
	}
	check(tree.at(7) == "7" && table.at("9") == 9);
}

NOINLINE void optionals()
{
	auto values = std::make_unique<std::optional<long>[]>(8);

	values[3] = 5;
	for (int i = 0; i < 8; i++)
		if (values[i])
			check(*values[i] == 5);
}

NOINLINE void streams()
{
	std::ostringstream stream;

	for (int i = 0; i < 30; i++)
		stream << i << ' ' << i * 0.5 << '\n';
	check(stream.str().size() > 100);
}

NOINLINE void shared()
{
	auto one = std::make_shared<std::vector<int>>(10, 3);
	auto other = one;

	check(other.use_count() == 2 && (*other)[9] == 3);
}

const struct row rows[] = {
	{"strings", strings},	  {"vectors", vectors}, {"maps", maps},
	{"optionals", optionals}, {"streams", streams}, {"shared", shared},
};

} // namespace

RUN_CASES(rows)
