/* SPDX-License-Identifier: Apache-2.0 */
/* Closes every descriptor above 2 at once, twice; numbers given out afterwards start at 3. */
#include "hostile.h"
#include <dirent.h>

static void say_descriptors(const char *when)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = 0;

	expect(directory);
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory))
			count++;
	}
	closedir(directory);
	say("%s: %d descriptors", when, count);
}

int main(void)
{
	int first, second;

	say_descriptors("at start");
	noise_start();
	for (int i = 0; i < 20; i++) {
		expect(syscall(SYS_close_range, 3, ~0u, 0) == 0);
		first = open("/dev/null", O_RDONLY);
		second = dup(first);
		expect(first == 3 && second == 4);
		nap(100000);
		expect(close(second) == 0 && close(first) == 0);
	}
	noise_stop();
	say_descriptors("at end");
	return 0;
}
