// SPDX-License-Identifier: Apache-2.0
// Counts that may be a little too low: a relaxed load and a relaxed store in a row, by all threads.
// Without debug information these are the instructions of `x++` whose value is used as well.
#include "../harness.h"
#include <atomic>

static std::atomic<long> requests, bytes;
static std::atomic<int> hash;
static std::atomic<short> level;
static std::atomic<double> seconds;
static long errors;

template <typename T> static T load(const std::atomic<T> &from)
{
	return from.load(std::memory_order_relaxed);
}

template <typename T> static void store(std::atomic<T> &to, T value)
{
	to.store(value, std::memory_order_relaxed);
}

static void *worker(void *)
{
	while (running()) {
		long before = load(bytes);

		store(requests, load(requests) + 1);
		store(bytes, before + 512);
		consume(before);
		store(hash, load(hash) * 31 + 7);
		store(level, static_cast<short>(load(level) + 1));
		store(seconds, load(seconds) + 0.5);
		__atomic_store_n(&errors, __atomic_load_n(&errors, __ATOMIC_RELAXED) + 1,
				 __ATOMIC_RELAXED);
		pace_hot();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(worker, harness_threads);
	return harness_finish();
}
