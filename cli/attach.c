/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/attach.h"

#include "base/descriptor_limit.h"
#include "cli/background.h"
#include "cli/command.h"
#include "arrival/enter.h"
#include "event/threads.h"
#include "inject/permission.h"
#include "process/identity.h"
#include "record/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NAME_MAX_BYTES 64
#define PID_MOST 4194304 /* PID_MAX_LIMIT, linux/threads.h */

static bool is_named(pid_t pid, const char *wanted)
{
	char path[64], name[NAME_MAX_BYTES] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	/* The kernel keeps fifteen bytes of a process's name. */
	return name[0] && strncmp(name, wanted, 15) == 0;
}

static void list_named(struct thread_set *found, const char *wanted)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		pid_t candidate = (pid_t)strtol(entry->d_name, NULL, 10);

		if (candidate > 0 && candidate != getpid() && is_named(candidate, wanted))
			thread_set_add(found, candidate);
	}
	if (directory)
		closedir(directory);
}

/* Of a server and its workers, which have its name, takes the server: its children are watched with
 * it. */
static unsigned count_first(const struct thread_set *named, pid_t *pid)
{
	unsigned found = 0;

	for (size_t i = 0; i < named->count; i++) {
		if (thread_set_contains(named, process_parent(named->tids[i])))
			continue;
		if (!found++)
			*pid = named->tids[i];
	}
	return found;
}

static int find_named(const char *wanted, pid_t *pid)
{
	struct thread_set named = {0};
	unsigned found;

	list_named(&named, wanted);
	found = count_first(&named, pid);
	thread_set_destroy(&named);
	if (found == 1)
		return 0;
	if (found)
		utf8_fprintf(
			stderr,
			"trapline: %u processes are named %s: give the number of one, `pgrep -x %s` "
			"lists them\n",
			found, wanted, wanted);
	else
		utf8_fprintf(stderr, "trapline: no process is named %s%s\n", wanted,
			     strchr(wanted, '/') ? ": a name is that of /proc/PID/comm, not a path"
						 : "");
	return ATTACH_NOBODY;
}

int attach_find(const char *text, pid_t *pid)
{
	char *end;
	long number;

	if (*pid) {
		fputs("trapline: -p is given twice: one process, with its children, is all that a "
		      "command takes\n",
		      stderr);
		return 2;
	}
	if (!*text) {
		fputs("trapline: --pid '' is neither the number nor the name of a process\n",
		      stderr);
		return 2;
	}
	errno = 0;
	number = strtol(text, &end, 10);
	if (end == text || *end)
		return find_named(text, pid);
	if (!errno && number > 0 && number <= PID_MOST) {
		*pid = (pid_t)number;
		return 0;
	}
	utf8_fprintf(stderr, "trapline: --pid '%s' is not the number of a process, from 1 to %d\n",
		     text, PID_MOST);
	return 2;
}

const char *attach_program(pid_t pid)
{
	static char path[PATH_MAX];
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	return path;
}

int attach_check(pid_t pid)
{
	struct inject_reason reason;

	if (!permission_check_process(&reason, pid))
		return STATUS_OK;
	utf8_fprintf(stderr, "trapline: %s\n", reason.text);
	return STATUS_FAILED;
}

int attach_begin(struct control *control, pid_t pid)
{
	struct inject_reason reason;
	int err;

	descriptor_limit_lift();
	background_stop_in_order(control);
	err = enter_process(control_program(control), pid, &reason);
	if (!err)
		return STATUS_OK;
	utf8_fprintf(stderr, "trapline: %s\n", reason.text);
	return STATUS_FAILED;
}

void attach_end(struct control *control)
{
	enter_leave(control_program(control));
}
