// SPDX-License-Identifier: Apache-2.0
// All threads write to std::cout, which C++ allows (iostream.objects.overview); each to a stream of
// its own as well, and to one of all under a lock.
#include "../harness.h"
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <locale>
#include <mutex>
#include <sstream>
#include <string>

static std::mutex lock;
static std::ostringstream all;
static std::ofstream file;

static void *worker(void *arg)
{
	const int number = static_cast<int>(reinterpret_cast<intptr_t>(arg));

	while (running()) {
		std::ostringstream own;

		own << "thread " << number << ' ' << 1.5 * number << '\n';
		std::cout << own.str() << 'x' << number << " of " << 2.5 << '\n';
		std::cout.flush();
		if (std::isdigit('7', std::locale())) {
			std::lock_guard<std::mutex> guard(lock);

			all.str("");
			all << own.str() << number << std::endl;
			file << all.str();
		}
		pace_hot();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	const int nowhere = open("/dev/null", O_WRONLY);

	harness_init(argc, argv, 4);
	if (nowhere < 0 || dup2(nowhere, 1) < 0)
		return 2;
	file.open("/dev/null");
	harness_start(worker, harness_threads);
	return harness_finish();
}
