/* SPDX-License-Identifier: Apache-2.0 */
/* std::unordered_map under a shared_mutex: counts are bumped while it is held shared. */
#include "../harness.h"
#include <shared_mutex>
#include <unordered_map>

static std::shared_mutex lock;
static std::unordered_map<int, unsigned> visits;

static void *visit(void *arg)
{
	int page = (int)(intptr_t)arg;

	while (running()) {
		{
			std::shared_lock<std::shared_mutex> guard(lock);
			auto found = visits.find(page++ % 3);

			found->second++; /* RACE a */
		}
		pace_warm();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 6);
	for (int page = 0; page < 3; page++)
		visits[page] = 0;
	harness_start(visit, harness_threads);
	return harness_finish();
}
