/* SPDX-License-Identifier: Apache-2.0 */
#include "process/stat_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t stat_file_number(pid_t pid, pid_t tid, enum stat_field field)
{
	char path[64], line[2048], *at;
	uint64_t value = 0;
	FILE *file;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	else
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* The program's name, field 2, may hold anything but ends with the last bracket. */
	at = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	for (unsigned number = 2; at && number < field; number++)
		at = strchr(at + 1, ' ');
	if (at)
		value = strtoull(at + 1, NULL, 10);
	fclose(file);
	return value;
}
