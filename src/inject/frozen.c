/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/frozen.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Where the groups of one kind are, and which of a group's files says what. */
struct kind {
	const char *controllers; /* the kind's name in /proc/PID/cgroup */
	const char *root, *file, *frozen;
	const char *freeze_file, *freeze, *thaw; /* by which a group is frozen itself */
};

static const struct kind kinds[] = {
	{"", "/sys/fs/cgroup", "cgroup.events", "frozen 1", "cgroup.freeze", "1", "0"},
	{"", "/sys/fs/cgroup/unified", "cgroup.events", "frozen 1", "cgroup.freeze", "1", "0"},
	{"freezer", "/sys/fs/cgroup/freezer", "freezer.state", "FR", "freezer.state", "FR",
	 "THAWED"},
};

/* Does the file hold this word? The older kind has FREEZING and FROZEN. */
static bool file_has(const char *path, const char *wanted)
{
	FILE *file = fopen(path, "re");
	char line[64];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strncmp(line, wanted, strlen(wanted)) == 0;
	if (file)
		fclose(file);
	return found;
}

/* Length of the name of the outermost frozen group, the only one by which groups within it are
 * thawed. If none is seen to be frozen, length of the group's own name. */
static int outermost(const struct kind *kind, const char *group)
{
	char path[PATH_MAX];

	for (const char *end = strchr(group, '/'); end; end = strchr(end + 1, '/')) {
		snprintf(path, sizeof(path), "%s%.*s/%s", kind->root, (int)(end - group), group,
			 kind->freeze_file);
		if (file_has(path, kind->freeze))
			return (int)(end - group);
	}
	return (int)strlen(group);
}

static bool is_frozen_in(const struct kind *kind, const char *controllers, const char *group,
			 char *thaw, size_t size)
{
	char path[PATH_MAX];

	if (strcmp(controllers, kind->controllers) != 0)
		return false;
	snprintf(path, sizeof(path), "%s%s/%s", kind->root, group, kind->file);
	if (!file_has(path, kind->frozen))
		return false;
	snprintf(thaw, size, "echo %s > %s%.*s/%s", kind->thaw, kind->root, outermost(kind, group),
		 group, kind->freeze_file);
	return true;
}

/* "0::/user.slice" or "7:freezer:/jobs". */
static bool is_frozen(char *line, char *thaw, size_t size)
{
	char *controllers = strchr(line, ':'), *group;
	bool found = false;

	group = controllers ? strchr(++controllers, ':') : NULL;
	if (!group)
		return false;
	*group++ = '\0';
	group[strcspn(group, "\n")] = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !found; i++)
		found = is_frozen_in(&kinds[i], controllers, group, thaw, size);
	return found;
}

bool frozen_is(pid_t pid, char *thaw, size_t size)
{
	char path[64], line[PATH_MAX];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = is_frozen(line, thaw, size);
	if (file)
		fclose(file);
	return found;
}
