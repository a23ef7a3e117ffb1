/* SPDX-License-Identifier: Apache-2.0 */
/* A function-local static whose construction fails and is tried again by whoever comes next: its
 * guard is looked at without a lock, and taken and given up, all the time. */
#include "../harness.h"

struct Connection {
	int attempts;

	Connection() : attempts(1)
	{
		work(500);
		if (running())
			throw 1;
	}
};

static Connection &connection()
{
	static Connection only;

	return only;
}

static void *use(void *arg)
{
	while (running()) {
		try {
			consume(connection().attempts);
		} catch (int) {
			pace_warm();
		}
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(use, harness_threads);
	return harness_finish();
}
