/* SPDX-License-Identifier: Apache-2.0 */
/* Function-local statics: the compiler's guard orders their one construction. */
#include "../harness.h"
#include <string>
#include <vector>

struct Registry {
	std::vector<std::string> names;
	int size;

	Registry() : names{"one", "two", "three"}, size(3)
	{
		nap(1000);
	}
};

template <int N> static const Registry &registry()
{
	static const Registry instance;

	return instance;
}

static void *use(void *arg)
{
	unsigned turn = (unsigned)(uintptr_t)arg;

	while (running()) {
		consume(registry<0>().names[turn++ % 3].size());
		consume(registry<1>().size);
		pace_hot();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 6);
	harness_start(use, harness_threads);
	return harness_finish();
}
