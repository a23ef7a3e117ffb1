/* SPDX-License-Identifier: Apache-2.0 */
#include "process/descriptor.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MEMORY_DEVICES 1 /* Documentation/admin-guide/devices.txt: null, zero, full … */

bool process_keeps(pid_t pid, int number)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
	if (stat(path, &status))
		return false;
	return S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) ||
	       (S_ISCHR(status.st_mode) && major(status.st_rdev) == MEMORY_DEVICES);
}
