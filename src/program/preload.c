/* SPDX-License-Identifier: Apache-2.0 */
#include "program/preload.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "LD_PRELOAD"
#define LINKS "/tmp/trapline-%u" /* the number is the user's id */

int preload_put(struct preload *before, const char *library)
{
	const char *user = getenv(VARIABLE);
	char *all = NULL;
	int err = 0;

	before->user = user ? strdup(user) : NULL;
	if ((user && !before->user) || asprintf(&all, user ? "%s:%s" : "%s", library, user) < 0 ||
	    setenv(VARIABLE, all, 1)) {
		err = -ENOMEM;
		free(before->user);
		before->user = NULL;
	}
	free(all);
	return err;
}

void preload_restore(struct preload *before)
{
	if (before->user)
		setenv(VARIABLE, before->user, 1);
	else
		unsetenv(VARIABLE);
	free(before->user);
	before->user = NULL;
}

/* Makes the folder of the links. False if another user made it or may write there: programs load
 * the libraries that its links lead to. */
static bool make_folder(const char *folder)
{
	struct stat found;

	if (mkdir(folder, 0700) == 0 && chmod(folder, 0755))
		return false;
	return lstat(folder, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
	       !(found.st_mode & (S_IWGRP | S_IWOTH));
}

static bool leads_to(const char *link, const char *target)
{
	char found[PATH_MAX];
	ssize_t length = readlink(link, found, sizeof(found));

	return length >= 0 && (size_t)length == strlen(target) &&
	       !memcmp(found, target, (size_t)length);
}

/* FNV-1a. */
static uint64_t hash(const char *text)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * 0x100000001b3;
	return sum;
}

const char *preload_path(const char *library)
{
	static char path[PATH_MAX];
	char user[32], link[64], folder[PATH_MAX];
	const char *name = strrchr(library, '/');

	if (!name || !strpbrk(library, " :$"))
		return library;
	snprintf(folder, sizeof(folder), "%.*s", (int)(name - library), library);
	snprintf(user, sizeof(user), LINKS, geteuid());
	if (!make_folder(user))
		return NULL;
	snprintf(link, sizeof(link), "%s/%016llx", user, (unsigned long long)hash(folder));
	if (!leads_to(link, folder)) {
		unlink(link);
		if (symlink(folder, link) && !leads_to(link, folder))
			return NULL;
	}
	return (size_t)snprintf(path, sizeof(path), "%s%s", link, name) < sizeof(path) ? path
										       : NULL;
}
