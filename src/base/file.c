/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define OWN "/proc/self/fd/"

static bool is_regular(int fd)
{
	struct stat status;

	return !raw_syscall6(SYS_newfstatat, fd, (long)"", (long)&status, AT_EMPTY_PATH, 0, 0) &&
	       S_ISREG(status.st_mode);
}

static void own_path(char path[static sizeof(OWN) + 12], int fd)
{
	char digits[12], *at = path + sizeof(OWN) - 1;
	int count = 0;

	memcpy(path, OWN, sizeof(OWN));
	do {
		digits[count++] = (char)('0' + fd % 10);
		fd /= 10;
	} while (fd);
	while (count)
		*at++ = digits[--count];
	*at = '\0';
}

/* First without opening it (O_PATH), to see what it is; then that very file. O_NONBLOCK: another
 * process's lease on it refuses us instead of letting us wait. */
int file_open(const char *path)
{
	char own[sizeof(OWN) + 12];
	int found =
		(int)raw_syscall6(SYS_openat, AT_FDCWD, (long)path, O_PATH | O_CLOEXEC, 0, 0, 0);
	int fd = -EINVAL;

	if (found < 0)
		return found;
	if (is_regular(found)) {
		own_path(own, found);
		fd = (int)raw_syscall6(SYS_openat, AT_FDCWD, (long)own,
				       O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
	}
	raw_close(found);
	return fd;
}
