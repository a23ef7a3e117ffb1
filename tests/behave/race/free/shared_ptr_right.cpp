/* SPDX-License-Identifier: Apache-2.0 */
/* std::shared_ptr exchanged under a mutex; its reference counts are libstdc++'s own atomics. */
#include "../harness.h"
#include <memory>
#include <mutex>
#include <string>

struct Config {
	std::string name;
	int level;
};

static std::mutex lock;
static std::shared_ptr<const Config> current = std::make_shared<Config>(Config{"first", 1});

static std::shared_ptr<const Config> get()
{
	std::lock_guard<std::mutex> guard(lock);

	return current;
}

static void *reload(void *)
{
	int level = 0;

	while (running()) {
		auto next = std::make_shared<const Config>(Config{"a rather long name", ++level});

		{
			std::lock_guard<std::mutex> guard(lock);
			current.swap(next);
		}
		pace_warm();
	}
	return nullptr;
}

static void *use(void *)
{
	while (running()) {
		auto config = get();

		consume(config->level + (int)config->name.size());
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
