/* SPDX-License-Identifier: Apache-2.0 */
/* std::shared_ptr: swapped under a lock, tested and dereferenced without it. */
#include "../harness.h"
#include <memory>
#include <mutex>

struct Config {
	int level;
};

static std::mutex lock;
static std::shared_ptr<Config> current = std::make_shared<Config>(Config{1});
static std::shared_ptr<Config> spare = std::make_shared<Config>(Config{2});

static void *reload(void *)
{
	while (running()) {
		{
			std::lock_guard<std::mutex> guard(lock);
			current.swap(spare); /* RACE a */
		}
		pace_warm();
	}
	return nullptr;
}

static void *use(void *)
{
	while (running()) {
		if (current)			 /* RACE a */
			consume(current->level); /* RACE a */
		pace_warm();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(reload, 1);
	harness_start(use, harness_threads - 1);
	return harness_finish();
}
