/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers between accounts without a lock: money appears and vanishes. */
#include "../harness.h"

#define ACCOUNTS 4

static long balance[ACCOUNTS];

static void *transfer(void *arg)
{
	unsigned turn = (unsigned)(uintptr_t)arg;

	while (running()) {
		unsigned from = turn % ACCOUNTS;
		unsigned to = (turn + 1) % ACCOUNTS;

		balance[from] -= 10; /* RACE a */
		balance[to] += 10;   /* RACE a */
		turn += 3;
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 8);
	harness_start(transfer, harness_threads);
	return harness_finish();
}
