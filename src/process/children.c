/* SPDX-License-Identifier: Apache-2.0 */
#include "process/children.h"

#include <stdio.h>

#define CHILDREN_MAX 256

static void list(struct thread_set *set, pid_t pid, pid_t tid)
{
	char path[64];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (!file)
		return;
	for (unsigned i = 0; i < CHILDREN_MAX && fscanf(file, "%d", &child) == 1; i++)
		if (thread_set_add(set, child))
			break;
	fclose(file);
}

void children_list(struct thread_set *set, pid_t pid, size_t threads)
{
	struct thread_set known = {0};

	thread_set_list(&known, pid);
	for (size_t i = 0; i < known.count && i < threads; i++)
		list(set, pid, known.tids[i]);
	thread_set_destroy(&known);
}
