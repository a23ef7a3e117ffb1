/* SPDX-License-Identifier: Apache-2.0 */
/* A map under std::shared_mutex: found under the shared lock, changed under the exclusive one. */
#include "../harness.h"
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>

static std::shared_mutex lock;
static std::map<int, std::string> names;

static void *look_up(void *arg)
{
	int key = (int)(intptr_t)arg;

	while (running()) {
		{
			std::shared_lock<std::shared_mutex> guard(lock);
			auto found = names.find(key++ % 50);

			if (found != names.end())
				consume(found->second.size());
		}
		pace_warm();
	}
	return nullptr;
}

static void *edit(void *)
{
	int turn = 0;

	while (running()) {
		{
			std::unique_lock<std::shared_mutex> guard(lock);

			names[turn % 50] = std::string(turn % 40, 'x');
			names.erase((turn + 25) % 50);
			turn++;
		}
		nap(1500);
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(look_up, harness_threads - 1);
	harness_start(edit, 1);
	return harness_finish();
}
