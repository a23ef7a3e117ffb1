/* SPDX-License-Identifier: Apache-2.0 */
/* Two pairs of threads that wake each other all the time, for SECONDS, beside blocks that nobody
 * misuses. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 2

static char *volatile block[8];

struct side {
	int from, to;
};

static void *answer(void *argument)
{
	const struct side *side = argument;
	char byte;

	while (read(side->from, &byte, 1) == 1 && write(side->to, &byte, 1) == 1)
		;
	return NULL;
}

static void *ask(void *argument)
{
	struct side *side = argument;
	char byte = 0;

	if (write(side->to, &byte, 1) == 1)
		answer(side);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct side side[2 * PAIRS];
	pthread_t thread;

	for (int i = 0; i < 8; i++) {
		block[i] = malloc(100);
		memset(block[i], 0, 100);
	}
	for (int i = 0; i < PAIRS; i++) {
		int there[2], back[2];

		if (pipe(there) || pipe(back))
			return 1;
		side[2 * i] = (struct side){there[0], back[1]};
		side[2 * i + 1] = (struct side){back[0], there[1]};
		if (pthread_create(&thread, NULL, answer, &side[2 * i]) ||
		    pthread_create(&thread, NULL, ask, &side[2 * i + 1]))
			return 1;
	}
	sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 4);
	_exit(0);
}
