/* SPDX-License-Identifier: Apache-2.0 */
/* std::atomic in its many spellings: relaxed, acquire and release, operators, pointers, flags. */
#include "../harness.h"
#include <atomic>
#include <cstddef>

enum class Mode : unsigned char { Idle, Busy };

struct Shared {
	std::atomic<long> count{0};
	std::atomic<Mode> mode{Mode::Idle};
	std::atomic<double> load{0};
	std::atomic<const char *> text{nullptr};
	std::atomic<bool> flag{false};
	std::atomic_flag lock = ATOMIC_FLAG_INIT;
	long guarded = 0;
};

static Shared shared;

static void *change(void *arg)
{
	long turn = (intptr_t)arg;

	while (running()) {
		turn++;
		shared.count.store(shared.count.load(std::memory_order_relaxed) + 1,
				   std::memory_order_relaxed);
		shared.mode.store(turn & 1 ? Mode::Busy : Mode::Idle, std::memory_order_release);
		shared.load.store(turn * 0.5, std::memory_order_relaxed);
		shared.text.store(turn & 1 ? "odd" : "even", std::memory_order_relaxed);
		shared.flag.store(turn & 1, std::memory_order_relaxed);
		while (shared.lock.test_and_set(std::memory_order_acquire))
			nap(50);
		shared.guarded++;
		shared.lock.clear(std::memory_order_release);
		pace_hot();
	}
	return nullptr;
}

static void *look(void *)
{
	while (running()) {
		consume(shared.count.load(std::memory_order_relaxed));
		consume((int)shared.mode.load(std::memory_order_acquire));
		consume((int)shared.load.load(std::memory_order_relaxed));
		consume(shared.text.load(std::memory_order_relaxed));
		if (shared.flag)
			consume(shared.count + 1);
		pace_hot();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(change, harness_threads / 2);
	harness_start(look, harness_threads - harness_threads / 2);
	return harness_finish();
}
