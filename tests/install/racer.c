/* SPDX-License-Identifier: Apache-2.0 */
/* A program, C and C++, that finds its own race through the installed library and command. */
#include <trapline/race.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS 3

static long counter;
static volatile int over;

static void *count(void *arg)
{
	while (!over) {
		counter++;
		__asm__ volatile("" ::: "memory");
	}
	return arg;
}

static int reported(const char *path)
{
	static char text[1 << 16];
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	text[length] = '\0';
	return strstr(text, "\"data-race\"") != NULL;
}

int main(void)
{
	const char *required = getenv("TRAPLINE_REQUIRE_HARDWARE");
	char path[] = "/tmp/trapline-racer-XXXXXX", options[64];
	int fd = mkstemp(path), err, found;
	pthread_t thread[2];

	snprintf(options, sizeof(options), "-q -o %s", path);
	err = tl_race_start(options);
	if (err < 0) {
		fprintf(stderr, "tl_race_start: %s\n", strerror(-err));
		unlink(path);
		return err == -EACCES && !(required && strcmp(required, "1") == 0) ? 77 : 1;
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, count, NULL);
	sleep(SECONDS);
	over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	err = tl_race_stop();
	found = reported(path);
	unlink(path);
	close(fd);
	printf("stopped: %d, found: %d\n", err, found);
	return err || !found;
}
