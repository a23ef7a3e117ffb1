// SPDX-License-Identifier: Apache-2.0
// A destructor that ends the object's thread begins, as every one of a class with virtual
// functions, by storing the pointer to these, which stands there already, while the thread calls
// them.
#include "../harness.h"
#include <atomic>
#include <memory>
#include <thread>

class worker
{
      public:
	worker() : thread([this] { run(); })
	{
	}
	worker(const worker &) = delete;
	worker &operator=(const worker &) = delete;
	virtual ~worker();
	virtual void step(int turn);

      private:
	void run();

	std::atomic<bool> stopped{false};
	long steps = 0;
	std::thread thread;
};

__attribute__((noinline)) void worker::step(int turn)
{
	steps += turn;
}

__attribute__((noinline)) void worker::run()
{
	for (int turn = 0; !stopped.load(std::memory_order_relaxed); turn++) {
		step(turn);
		work(50);
	}
}

worker::~worker()
{
	work(20000);
	stopped.store(true);
	thread.join();
}

static void *own(void *)
{
	while (running()) {
		auto object = std::make_unique<worker>();

		nap(1000);
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(own, harness_threads - 1);
	return harness_finish();
}
