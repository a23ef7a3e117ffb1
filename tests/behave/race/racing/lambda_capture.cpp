/* SPDX-License-Identifier: Apache-2.0 */
/* std::thread with a lambda that captures a local by reference; main keeps reading it. */
#include "../harness.h"
#include <thread>
#include <vector>

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	long sum = 0;

	harness_init(argc, argv, 4);
	for (int i = 0; i < harness_threads; i++) {
		threads.emplace_back([&sum, i] {
			while (running()) {
				sum += i + 1; /* RACE a */
				pace_warm();
			}
		});
	}
	harness_finish();
	for (auto &thread : threads)
		thread.join();
	return sum == -1;
}
