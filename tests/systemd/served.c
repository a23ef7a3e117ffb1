/* SPDX-License-Identifier: Apache-2.0 */
/* A service for tests/systemd/run: two threads that race, for ever; with -d in the background. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

int counter;

static void *work(void *argument)
{
	for (;;) {
		for (int i = 0; i < 200; i++)
			counter++;
		usleep(500);
	}
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "-d") == 0 && daemon(0, 0))
		return 1;
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
}
