/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with one race, which looks at itself meanwhile: nothing of its controller may show. The
 * same source twice: linked with libtrapline-agent it starts the watching itself.
 *
 * usage: racer WHEN SECONDS [CALL…]	WHEN: never, early, late (threads run already)
 * CALLs: subreaper, fork, stop, kill
 * It ends after SECONDS, or as soon as the file RACER_OUTPUT tells of a race that is definite.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef LINKED
#include <trapline/race.h>
#else
static int tl_race_start(const char *options)
{
	(void)options;
	return 0;
}

static int tl_race_stop(void)
{
	return 0;
}
#endif

static int counter;
static volatile bool over;

static void *count(void *unused)
{
	(void)unused;
	while (!over)
		for (int i = 0; i < 1000; i++) {
			counter++; /* the race */
			__asm__ volatile("" ::: "memory");
		}
	return NULL;
}

static int entries(const char *folder)
{
	DIR *directory = opendir(folder);
	int count = -3; /* ".", ".." and, for descriptors, this one */

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count;
}

static void show_self(void)
{
	bool hidden = !getenv("LD_PRELOAD") && !getenv("TRAPLINE_AREA");

	int ended = (int)wait(NULL);

	printf("wait %d %s, descriptors %d, threads %d, environment %s\n", ended,
	       strerrorname_np(errno), entries("/proc/self/fd"), entries("/proc/self/task") + 1,
	       hidden ? "clean" : "marked");
}

static void start(int expected)
{
	int err = tl_race_start(getenv("RACER_OPTIONS"));

	if (err != expected)
		printf("tl_race_start: %d, expected %d\n", err, expected);
}

static void stop(void)
{
	int first = tl_race_stop(), second = tl_race_stop();

	printf("stop %d, again %d\n", first, second);
}

static bool is_reported(void)
{
	static char text[1 << 16];
	const char *path = getenv("RACER_OUTPUT");
	FILE *file = path ? fopen(path, "r") : NULL;
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	text[length] = '\0';
	return strstr(text, "\"definite\"");
}

static void run(bool late, int seconds)
{
	struct timespec pause = {0, 50000000};
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, count, NULL);
	if (late)
		start(0);
	for (int i = 0; i < 20 * seconds && !is_reported(); i++)
		nanosleep(&pause, NULL);
	over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static bool wants(char **calls, const char *name)
{
	for (; *calls; calls++)
		if (strcmp(*calls, name) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	char **calls = argv + 3;
	pid_t child = 0;

	if (argc < 3)
		return 2;
	if (wants(calls, "subreaper"))
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (strcmp(argv[1], "early") == 0) {
		start(0);
#ifdef LINKED
		start(-EALREADY);
#endif
	}
	show_self();
	fflush(stdout);
	if (wants(calls, "fork"))
		child = fork();
	if (child == 0)
		run(strcmp(argv[1], "late") == 0, atoi(argv[2]));
	if (child > 0)
		waitpid(child, NULL, 0);
	if (wants(calls, "stop"))
		stop();
	if (wants(calls, "kill"))
		kill(getpid(), SIGKILL);
	return 7;
}
