/* SPDX-License-Identifier: Apache-2.0 */
#include "process/identity.h"

#include "base/syscall.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

bool process_maps(int area_fd, pid_t pid)
{
	unsigned long inode;
	unsigned major, minor;
	char name[64], line[4400];
	bool found = false;
	struct stat own;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	file = fstat(area_fd, &own) ? NULL : fopen(name, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, "/memfd:trapline") &&
			sscanf(line, "%*s %*s %*s %x:%x %lu", &major, &minor, &inode) == 3 &&
			makedev(major, minor) == own.st_dev && inode == own.st_ino;
	fclose(file);
	return found;
}

/* The last of the ids in "NSpid:\t4711\t1". */
pid_t process_name_inside(pid_t pid)
{
	char name[64], line[1024], *last;
	pid_t inside = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	file = fopen(name, "re");
	if (!file)
		return 0;
	while (!inside && fgets(line, sizeof(line), file)) {
		last = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;
		inside = last ? (pid_t)strtol(last, NULL, 10) : 0;
	}
	fclose(file);
	return inside;
}

bool process_is_named(pid_t pid, pid_t inside)
{
	return inside > 0 && process_name_inside(pid) == inside;
}

/* Without memory for poll(2) one that was waited for still is no target of signals, so that nobody
 * waits for its end for ever. */
bool pidfd_has_ended(int pidfd)
{
	struct pollfd ended = {pidfd, POLLIN, 0};
	int ready = pidfd >= 0 ? poll(&ended, 1, 0) : 0;

	if (ready >= 0)
		return ready == 1;
	return raw_syscall6(SYS_pidfd_send_signal, pidfd, 0, 0, 0, 0, 0) == -ESRCH;
}
