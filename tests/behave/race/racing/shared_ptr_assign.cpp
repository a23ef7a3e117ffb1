/* SPDX-License-Identifier: Apache-2.0 */
/* std::shared_ptr: assigned by one thread while others copy it. What it points to stays. */
#include "../harness.h"
#include <memory>

struct Config {
	int level;
};

static const auto first = std::make_shared<Config>(Config{1});
static const auto second = std::make_shared<Config>(Config{2});
static std::shared_ptr<Config> current = first;

static void *reload(void *)
{
	for (unsigned turn = 0; running(); turn++) {
		current = turn % 2 ? first : second; /* RACE a */
		pace_warm();
	}
	return nullptr;
}

static void *use(void *)
{
	while (running()) {
		std::shared_ptr<Config> mine = current; /* RACE a */

		consume(mine->level);
		pace_warm();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(reload, 1);
	harness_start(use, harness_threads - 1);
	return harness_finish();
}
