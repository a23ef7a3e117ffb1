/* SPDX-License-Identifier: Apache-2.0 */
#include "base/proc_line.h"
#include "process/identity.h"
#include "program/reach.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AREA_FILE "/memfd:trapline (deleted)"
#define ANCESTORS_MAX 64

/* Which area's file it is; every memory file has an inode of its own. */
struct identity {
	ino_t inode;
	bool known;
};

/* Returns the descriptor by which process `pid` holds an area's file, that one if it is known; or
 * -errno. */
static int find_descriptor(pid_t pid, const struct identity *wanted)
{
	char directory[64], path[400], target[64];
	int found = -ENOENT;
	struct dirent *entry;
	struct stat status;
	DIR *list;

	snprintf(directory, sizeof(directory), "/proc/%d/fd", (int)pid);
	list = opendir(directory);
	if (!list)
		return -errno;
	while (found < 0 && (entry = readdir(list))) {
		ssize_t length;

		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		target[length < 0 ? 0 : length] = '\0';
		if (strcmp(target, AREA_FILE) == 0 &&
		    (!wanted->known ||
		     (stat(path, &status) == 0 && status.st_ino == wanted->inode)))
			found = atoi(entry->d_name);
	}
	closedir(list);
	return found;
}

/* Finds out which area process `pid` maps. 0 or -errno. */
static int find_mapping(pid_t pid, struct identity *identity)
{
	char name[64], line[4400];
	unsigned long inode;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	maps = fopen(name, "re");
	if (!maps)
		return -errno;
	while (!identity->known && proc_line_next(maps, line, sizeof(line)))
		if (strstr(line, AREA_FILE) && sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1) {
			identity->inode = inode;
			identity->known = true;
		}
	fclose(maps);
	return identity->known ? 0 : -ENOENT;
}

static int reach_by(struct area **area, pid_t holder, int fd)
{
	char locator[32];

	snprintf(locator, sizeof(locator), "%d:%d", (int)holder, fd);
	return area_attach(area, locator);
}

/* The controller is an ancestor of the process, unless that has been left to init. */
static int reach_ancestor(struct area **area, pid_t pid, const struct identity *identity)
{
	for (int depth = 0; pid > 1 && depth < ANCESTORS_MAX; depth++) {
		int fd;

		pid = process_parent(pid);
		fd = pid > 1 ? find_descriptor(pid, identity) : -ENOENT;
		if (fd >= 0)
			return reach_by(area, pid, fd);
	}
	return -ENOENT;
}

static int reach_anyone(struct area **area, const struct identity *identity)
{
	struct dirent *entry;
	int err = -ENOENT;
	DIR *list = opendir("/proc");

	if (!list)
		return -errno;
	while (err == -ENOENT && (entry = readdir(list))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		int fd = pid ? find_descriptor(pid, identity) : -ENOENT;

		if (fd >= 0)
			err = reach_by(area, pid, fd);
	}
	closedir(list);
	return err;
}

int reach_area(struct area **area, pid_t pid)
{
	struct identity identity = {0};
	int fd, err;

	if (kill(pid, 0) && errno == ESRCH)
		return -ESRCH;
	fd = find_descriptor(pid, &identity);
	if (fd >= 0)
		return reach_by(area, pid, fd);
	err = find_mapping(pid, &identity);
	if (err)
		return err == -EPERM ? -EACCES : err;
	err = reach_ancestor(area, pid, &identity);
	return err == -ENOENT ? reach_anyone(area, &identity) : err;
}

const char *reach_explain(int err)
{
	switch (err) {
	case -ESRCH:
		return "there is no such process";
	case -ENOENT:
		return "it was not started under trapline, or that trapline has ended; start it with "
		       "`trapline run`, `throttle`, `race` or `watch`";
	case -EACCES:
	case -EPERM:
		return "it belongs to another user; ask as that user or as root";
	case -EINVAL:
		return "it runs under another version of trapline; use the same one";
	default:
		return strerror(-err);
	}
}
