/* SPDX-License-Identifier: Apache-2.0 */
/* `volatile` taken for synchronisation: spinning on it orders nothing and is a data race. */
#include "../harness.h"

static volatile int turn;
static long total;

static void *play(void *arg)
{
	int self = (int)(intptr_t)arg;

	while (running()) {
		while (turn != self && running()) /* RACE a */
			nap(200);
		total += self;			     /* RACE b */
		turn = (self + 1) % harness_threads; /* RACE a */
		work(500);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(play, harness_threads);
	return harness_finish();
}
