/* SPDX-License-Identifier: Apache-2.0 */
/* A memory cgroup of 64 MiB: the child grows until the kernel kills it. */
#include "hostile.h"
#include <sys/stat.h>

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t length = -1;

	if (fd >= 0) {
		length = write(fd, text, strlen(text));
		close(fd);
	}
	return length == (ssize_t)strlen(text) ? 0 : -1;
}

int main(void)
{
	char group[200], path[300];
	pid_t child;

	snprintf(group, sizeof(group), "/sys/fs/cgroup/memory/hostile-%d", getpid());
	if (mkdir(group, 0755))
		snprintf(group, sizeof(group), "/sys/fs/cgroup/hostile-%d", getpid());
	if (access(group, F_OK) && mkdir(group, 0755))
		return SKIP;
	snprintf(path, sizeof(path), "%s/memory.max", group);
	if (access(path, F_OK))
		snprintf(path, sizeof(path), "%s/memory.limit_in_bytes", group);
	if (write_file(path, "67108864")) {
		rmdir(group);
		return SKIP;
	}
	noise_start();
	child = fork();
	if (child == 0) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", group);
		if (write_file(path, "0"))
			_exit(SKIP);
		noise_start();
		nap(300000);
		for (;;) {
			char *block = malloc(1 << 20);

			if (!block)
				_exit(3);
			memset(block, 1, 1 << 20);
			nap(3000);
		}
	}
	say_end("child", child);
	noise_stop();
	nap(200000);
	expect(rmdir(group) == 0);
	return 0;
}
