/* SPDX-License-Identifier: Apache-2.0 */
/* 256 connection threads that mostly wait count themselves in one plain word. */
#include "../harness.h"

static long active;

static void *connection(void *arg)
{
	nap(100 * (unsigned)(uintptr_t)arg);
	while (running()) {
		active++; /* RACE a */
		nap(40000);
		active--; /* RACE a */
		nap(10000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 256);
	harness_start(connection, harness_threads);
	return harness_finish();
}
