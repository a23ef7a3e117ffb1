/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/thread_names.h"

#include "process/thread_status.h"

#include <string.h>

void thread_names_set(struct thread_names *names, pid_t tid, const char name[AREA_NAME])
{
	names->entry[tid % THREAD_NAMES].tid = tid;
	memcpy(names->entry[tid % THREAD_NAMES].name, name, AREA_NAME);
}

bool thread_names_has(const struct thread_names *names, pid_t tid)
{
	return names->entry[tid % THREAD_NAMES].tid == tid &&
	       names->entry[tid % THREAD_NAMES].name[0];
}

void thread_names_ask(struct thread_names *names, pid_t pid, pid_t tid)
{
	char name[AREA_NAME];

	if (thread_status_name(pid, tid, name, sizeof(name)) || !thread_names_has(names, tid))
		thread_names_set(names, tid, name);
}

const char *thread_names_get(struct thread_names *names, pid_t pid, pid_t tid)
{
	if (!thread_names_has(names, tid))
		thread_names_ask(names, pid, tid);
	return names->entry[tid % THREAD_NAMES].name;
}
