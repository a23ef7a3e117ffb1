// SPDX-License-Identifier: Apache-2.0
// What C++20 added to order threads: std::barrier, std::latch, semaphores, waiting on atomics,
// std::atomic_ref, std::stop_token, and std::atomic<std::shared_ptr>.
#include "../harness.h"
#include <atomic>
#include <barrier>
#include <latch>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <vector>

static long turns, sums[2], guarded, taken, handed;
static int referred;
static std::atomic<int> ready;
static std::counting_semaphore<4> empty_slots(1), full_slots(0);
static std::atomic<std::shared_ptr<const std::vector<long>>> published;

static void next_turn() noexcept
{
	turns++;
}

static void play(std::barrier<void (*)() noexcept> &meet, int self)
{
	for (int i = 0; i < 20; i++) {
		sums[self] = turns + i;
		meet.arrive_and_wait();
		if (self == i % 2)
			guarded += sums[0] - sums[1];
		meet.arrive_and_wait();
	}
}

static void produce(std::stop_token stop)
{
	while (!stop.stop_requested()) {
		empty_slots.acquire();
		taken++;
		full_slots.release();
		std::atomic_ref<int>(referred).fetch_add(1, std::memory_order_relaxed);
		published.store(std::make_shared<const std::vector<long>>(8, referred));
	}
	full_slots.release();
}

static void *rounds(void *)
{
	while (running()) {
		std::barrier<void (*)() noexcept> meet(2, next_turn);
		std::latch done(2);
		std::thread other([&] {
			play(meet, 1);
			handed = guarded;
			done.count_down();
		});

		play(meet, 0);
		done.arrive_and_wait();
		guarded += handed;
		other.join();
		nap(500);
	}
	return nullptr;
}

static void *exchange(void *)
{
	std::jthread producer(produce);

	while (running()) {
		full_slots.acquire();
		consume(static_cast<int>(taken));
		taken++;
		empty_slots.release();
		if (auto seen = published.load())
			consume(static_cast<int>(seen->front()));
		consume(std::atomic_ref<int>(referred).load(std::memory_order_relaxed));
		ready.store(ready.load() + 1);
		ready.notify_one();
		pace_hot();
	}
	producer.request_stop();
	empty_slots.release();
	ready.store(1);
	ready.notify_all();
	return nullptr;
}

static void *follow(void *)
{
	while (running()) {
		int seen = ready.load();

		if (seen == 0)
			ready.wait(0);
		consume(seen);
		pace_warm();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(rounds, 1);
	harness_start(exchange, 1);
	harness_start(follow, 1);
	return harness_finish();
}
