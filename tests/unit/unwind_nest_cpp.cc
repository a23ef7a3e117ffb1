// SPDX-License-Identifier: Apache-2.0
// C++ frames with destructors and landing pads, walked through by unwind_singlestep.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

static volatile int sink;

namespace
{
struct guard {
	int value;
	explicit guard(int v) : value(v)
	{
		sink = sink + 1;
	}
	~guard()
	{
		sink = sink - value;
	}
};

__attribute__((noinline)) int thrower(int depth)
{
	guard held(depth);
	if (depth == 0)
		throw std::runtime_error("out");
	return thrower(depth - 1) + held.value;
}

__attribute__((noinline)) int sorter()
{
	std::vector<std::string> words{"delta", "alpha", "charlie", "bravo"};
	std::sort(words.begin(), words.end(),
		  [](const std::string &a, const std::string &b) { return a < b; });
	return static_cast<int>(words[0].size());
}
} // namespace

extern "C" int nest_cpp(int rounds)
{
	int result = 0;
	for (int i = 0; i < rounds; i++) {
		result += sorter();
		try {
			result += thrower(2);
		} catch (const std::exception &) {
			result++;
		}
	}
	return result;
}
