/* SPDX-License-Identifier: Apache-2.0 */
/* std::string: a short status text is replaced in place while others look at its length. */
#include "../harness.h"
#include <string>

static std::string status = "starting";

static void *change(void *)
{
	unsigned turn = 0;

	while (running()) {
		status.assign(turn++ % 2 ? "running" : "idle"); /* RACE a */
		pace_warm();
	}
	return nullptr;
}

static void *show(void *)
{
	while (running()) {
		consume(status.size());	      /* RACE a */
		consume((int)status.front()); /* RACE a */
		pace_warm();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(change, 1);
	harness_start(show, harness_threads - 1);
	return harness_finish();
}
