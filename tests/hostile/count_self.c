/* SPDX-License-Identifier: Apache-2.0 */
/* Counts its threads, its children, its timers and its writable executable mappings. */
#include "hostile.h"
#include <dirent.h>

static int count_entries(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int count = 0;

	expect(directory);
	while ((entry = readdir(directory)))
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

static int count_lines(const char *path, const char *containing)
{
	FILE *file = fopen(path, "r");
	char line[4096];
	int count = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		count += strstr(line, containing) != NULL;
	fclose(file);
	return count;
}

static void say_counts(const char *when)
{
	say("%s: %d threads, %d children, %d timers, %d writable and executable, %d stacks", when,
	    count_entries("/proc/self/task"),
	    waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : 1,
	    count_lines("/proc/self/timers", "ID:"), count_lines("/proc/self/maps", " rwx"),
	    count_lines("/proc/self/maps", "[stack]"));
}

int main(void)
{
	say_counts("at start");
	noise_start();
	nap(1000000);
	say_counts("with noise");
	noise_stop();
	/* The kernel may take a moment to forget a joined thread. */
	nap(100000);
	say_counts("at end");
	return 0;
}
