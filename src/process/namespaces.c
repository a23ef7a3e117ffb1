/* SPDX-License-Identifier: Apache-2.0 */
#include "process/namespaces.h"

#include "process/identity.h"

#include <dirent.h>
#include <stdlib.h>

static bool add(struct process_names *names, pid_t pid)
{
	if (names->count == names->room) {
		size_t room = names->room ? 2 * names->room : 256;
		struct process_name *grown = realloc(names->name, room * sizeof(*grown));

		if (!grown)
			return false;
		names->name = grown;
		names->room = room;
	}
	names->name[names->count++] = (struct process_name){pid, process_name_inside(pid)};
	return true;
}

static void list(struct process_names *names)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	bool room = true;

	while (directory && room && (entry = readdir(directory))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0)
			room = add(names, pid);
	}
	if (directory)
		closedir(directory);
	names->listed = true;
}

pid_t process_names_next(struct process_names *names, pid_t inside, size_t *at)
{
	if (!names->listed)
		list(names);
	while (inside > 0 && *at < names->count) {
		const struct process_name *name = &names->name[(*at)++];

		if (name->inside == inside)
			return name->pid;
	}
	return 0;
}

void process_names_clear(struct process_names *names)
{
	free(names->name);
	*names = (struct process_names){0};
}
