/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/own_path.h"
#include "base/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

static bool is_regular(int fd)
{
	struct stat status;

	return !raw_syscall6(SYS_newfstatat, fd, (long)"", (long)&status, AT_EMPTY_PATH, 0, 0) &&
	       S_ISREG(status.st_mode);
}

/* First without opening it (O_PATH), to see what it is; then that very file. O_NONBLOCK: another
 * process's lease on it refuses us instead of letting us wait. */
int file_open(const char *path)
{
	char own[OWN_PATH_SIZE];
	int found =
		(int)raw_syscall6(SYS_openat, AT_FDCWD, (long)path, O_PATH | O_CLOEXEC, 0, 0, 0);
	int fd = -EINVAL;

	if (found < 0)
		return found;
	if (is_regular(found)) {
		fd = (int)raw_syscall6(SYS_openat, AT_FDCWD, (long)own_path(own, found),
				       O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
	}
	raw_close(found);
	return fd;
}
