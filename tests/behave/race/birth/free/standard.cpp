/* SPDX-License-Identifier: Apache-2.0 */
/* A std::thread writes a variable of its creator's frame, both under a mutex. */
#include <mutex>
#include <thread>

int main()
{
	std::mutex mutex;
	volatile int kept = 0;
	int object = 0;
	std::thread thread([&] {
		std::lock_guard<std::mutex> guard(mutex);
		object = 1;
	});

	{
		std::lock_guard<std::mutex> guard(mutex);
		kept = object;
	}
	thread.join();
	return object - 1 + (kept & 0);
}
