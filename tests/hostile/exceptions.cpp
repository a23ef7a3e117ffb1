/* SPDX-License-Identifier: Apache-2.0 */
/* C++ exceptions, thrown through frames of racing accesses and across threads. */
#include "hostile.h"
#include <exception>
#include <stdexcept>
#include <string>

static long caught;

__attribute__((noinline)) static void throw_deep(int depth)
{
	noise_counter++;
	if (depth == 0)
		throw std::runtime_error("at the bottom");
	std::string on_the_way(depth, 'x');
	throw_deep(depth - 1);
	noise_counter += on_the_way.size();
}

static void *body(void *arg)
{
	for (int i = 0; i < 4000; i++) {
		try {
			throw_deep(i % 20);
		} catch (const std::exception &) {
			__atomic_fetch_add(&caught, 1, __ATOMIC_RELAXED);
		}
		nap(300);
	}
	return arg;
}

int main()
{
	pthread_t threads[4];

	noise_start();
	for (auto &thread : threads)
		expect(pthread_create(&thread, nullptr, body, nullptr) == 0);
	for (auto &thread : threads)
		expect(pthread_join(thread, nullptr) == 0);
	noise_stop();
	say("%ld caught", caught);
	return 0;
}
