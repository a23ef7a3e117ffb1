/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads take turns on plain data by two eventfds. */
#include "../harness.h"
#include <sys/eventfd.h>

static int turn_fd[2];
static long shared;
static char text[100];

static void *play(void *arg)
{
	int self = (int)(intptr_t)arg;
	uint64_t value;

	for (;;) {
		if (read(turn_fd[self], &value, sizeof(value)) != sizeof(value))
			exit(2);
		shared += self + 1;
		memset(text, (int)shared, sizeof(text));
		value = 1;
		if (write(turn_fd[1 - self], &value, sizeof(value)) != sizeof(value))
			exit(2);
		if (!running())
			return NULL;
		work(3000);
		nap(200);
	}
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	turn_fd[0] = eventfd(1, 0);
	turn_fd[1] = eventfd(0, 0);
	if (turn_fd[0] < 0 || turn_fd[1] < 0)
		return 2;
	harness_start(play, 2);
	return harness_finish();
}
