/* SPDX-License-Identifier: Apache-2.0 */
/* Two flags share a word: setting one without a lock loses the other. */
#include "../harness.h"

static struct {
	unsigned open : 1;
	unsigned dirty : 1;
	unsigned generation : 20;
} file;

static void *open_and_close(void *arg)
{
	(void)arg;
	while (running()) {
		file.open ^= 1; /* RACE a */
		pace_warm();
	}
	return NULL;
}

static void *mark(void *arg)
{
	(void)arg;
	while (running()) {
		file.dirty ^= 1;      /* RACE a */
		file.generation += 1; /* RACE a */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(open_and_close, harness_threads - 1);
	harness_start(mark, 1);
	return harness_finish();
}
