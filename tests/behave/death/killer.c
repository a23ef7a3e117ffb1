/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks again and again and kills the child at a random moment, most of them while they announce
 * themselves; then tells how many entries of the area are left beside its own, and ends with
 * status 7. With "wait" it reads a line before it ends.
 *
 * usage: killer FORKS SEED [wait]
 */
#include "../own_area.h"
#include "record/area.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 100 /* tenths of a second until all must be free */

static unsigned taken(const struct area *area)
{
	unsigned count = 0;

	for (int i = 0; i < AREA_PROCESSES; i++)
		count += atomic_load(&area->process[i].state) != AREA_PROCESS_FREE &&
			 area->process[i].pid != getpid();
	return count;
}

static void kill_one(long nanoseconds)
{
	struct timespec pause = {0, nanoseconds};
	pid_t child = fork();

	if (child == 0) {
		for (;;)
			raise(SIGSTOP);
	}
	nanosleep(&pause, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const struct timespec tenth = {0, 100000000};
	struct area *area = own_area(NULL);
	unsigned left = 0;
	char line[16];

	if (argc < 3 || !area)
		return 2;
	srand((unsigned)atoi(argv[2]));
	for (int i = 0; i < atoi(argv[1]); i++)
		kill_one(rand() % (rand() % 2 ? 100000 : 1500000));
	for (int i = 0; i < PATIENCE && (left = taken(area)); i++)
		nanosleep(&tenth, NULL);
	printf("left %u\n", left);
	fflush(stdout);
	if (argc > 3 && !fgets(line, sizeof(line), stdin))
		return 3;
	return 7;
}
