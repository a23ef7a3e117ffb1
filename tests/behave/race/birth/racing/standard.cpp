/* SPDX-License-Identifier: Apache-2.0 */
/* A std::thread writes a variable of its creator's frame, which reads it. */
#include <thread>

int main()
{
	volatile int kept = 0;
	int object = 0;
	std::thread thread([&object] { object = 1; });

	kept = object;
	thread.join();
	return object - 1 + (kept & 0);
}
