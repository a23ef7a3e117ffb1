/* SPDX-License-Identifier: Apache-2.0 */
/* std::map: its shape never changes, but the mapped values do, without a lock. */
#include "../harness.h"
#include <map>
#include <string>

static std::map<std::string, long> prices;
static const char *const keys[] = {"apples", "oranges", "pears", "plums"};

static void *quote(void *)
{
	unsigned turn = 0;

	while (running()) {
		prices[keys[turn & 3]] = turn; /* RACE a */
		turn++;
		pace_warm();
	}
	return nullptr;
}

static void *ask(void *arg)
{
	unsigned turn = (unsigned)(uintptr_t)arg;

	while (running()) {
		consume(prices.at(keys[turn++ & 3])); /* RACE a */
		pace_warm();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	for (auto key : keys)
		prices[key] = 0;
	harness_start(quote, 1);
	harness_start(ask, harness_threads - 1);
	return harness_finish();
}
