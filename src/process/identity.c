/* SPDX-License-Identifier: Apache-2.0 */
#include "process/identity.h"

#include "base/pidfd.h"
#include "base/proc_line.h"
#include "base/syscall.h"
#include "process/thread_status.h"

#include <errno.h>
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
	while (!found && proc_line_next(file, line, sizeof(line)))
		found = strstr(line, "/memfd:trapline") &&
			sscanf(line, "%*s %*s %*s %x:%x %lu", &major, &minor, &inode) == 3 &&
			makedev(major, minor) == own.st_dev && inode == own.st_ino;
	fclose(file);
	return found;
}

pid_t process_name_inside(pid_t pid)
{
	char line[1024], *last = NULL;

	/* The last of the ids in "NSpid:\t4711\t1". */
	if (thread_status_line(pid, pid, "NSpid:", line, sizeof(line)))
		last = strrchr(line, '\t');
	return last ? (pid_t)strtol(last, NULL, 10) : 0;
}

pid_t process_parent(pid_t pid)
{
	static const char key[] = "PPid:";
	char line[1024];

	if (!thread_status_line(pid, pid, key, line, sizeof(line)))
		return 0;
	return (pid_t)strtol(line + strlen(key), NULL, 10);
}

bool process_is_named(pid_t pid, pid_t inside)
{
	return inside > 0 && process_name_inside(pid) == inside;
}

bool process_has_ended(pid_t pid)
{
	int pidfd = (int)raw_syscall3(SYS_pidfd_open, pid, 0, 0);
	bool ended = pidfd == -ESRCH || pidfd_has_ended(pidfd);

	if (pidfd >= 0)
		raw_close(pidfd);
	return ended;
}
