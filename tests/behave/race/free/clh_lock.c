/* SPDX-License-Identifier: Apache-2.0 */
/* A queue lock whose nodes wander: who reads the release of a node takes it and stores to it
 * plainly. */
#include "../harness.h"

struct node {
	int locked;
};

static struct node *tail;
static long shared;

static void *worker(void *arg)
{
	struct node *mine = calloc(1, 64);

	while (running()) {
		struct node *before;

		mine->locked = 1;
		before = __atomic_exchange_n(&tail, mine, __ATOMIC_ACQ_REL);
		while (__atomic_load_n(&before->locked, __ATOMIC_ACQUIRE))
			work(10);
		shared++;
		__atomic_store_n(&mine->locked, 0, __ATOMIC_RELEASE);
		mine = before;
		pace_warm();
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	tail = calloc(1, 64);
	harness_start(worker, harness_threads);
	return harness_finish();
}
