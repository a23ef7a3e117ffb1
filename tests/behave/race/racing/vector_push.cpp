/* SPDX-License-Identifier: Apache-2.0 */
/* std::vector: one thread pushes and clears under a lock, another asks its size without it. */
#include "../harness.h"
#include <mutex>
#include <vector>

static std::mutex lock;
static std::vector<int> queue;

static void *fill(void *)
{
	while (running()) {
		std::lock_guard<std::mutex> guard(lock);
		if (queue.size() < 1000)
			queue.push_back(1); /* RACE a */
		else
			queue.clear(); /* RACE a */
		pace_warm();
	}
	return nullptr;
}

static void *watch(void *)
{
	while (running()) {
		consume(queue.size()); /* RACE a */
		pace_warm();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	queue.reserve(1000);
	harness_start(fill, 1);
	harness_start(watch, harness_threads - 1);
	return harness_finish();
}
