/* SPDX-License-Identifier: Apache-2.0 */
/* std::async, std::promise and std::condition_variable carry plain results. */
#include "../harness.h"
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

static std::mutex lock;
static std::condition_variable changed;
/* A null job tells one answerer to leave. */
static std::deque<std::unique_ptr<std::promise<std::vector<int>>>> jobs;

static void *answer(void *)
{
	for (;;) {
		std::unique_ptr<std::promise<std::vector<int>>> job;

		{
			std::unique_lock<std::mutex> guard(lock);

			changed.wait(guard, [] { return !jobs.empty(); });
			job = std::move(jobs.front());
			jobs.pop_front();
		}
		if (!job)
			return nullptr;
		job->set_value(std::vector<int>(20, 7));
	}
}

static void *ask(void *)
{
	while (running()) {
		auto promise = std::make_unique<std::promise<std::vector<int>>>();
		auto future = promise->get_future();

		{
			std::lock_guard<std::mutex> guard(lock);

			jobs.push_back(std::move(promise));
		}
		changed.notify_one();
		if (future.get()[3] != 7)
			exit(1);
		nap(500);
	}
	{
		std::lock_guard<std::mutex> guard(lock);

		jobs.push_back(nullptr);
	}
	changed.notify_one();
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(answer, harness_threads / 2);
	harness_start(ask, harness_threads / 2);
	return harness_finish();
}
