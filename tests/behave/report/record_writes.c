/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into a program by power_cut.py: records, in order, what the program does to the files
 * of one folder ($RECORD_FOLDER), and which of it it made durable, in the file $RECORD_LOG.
 *
 * A record is six 32-bit words (operation, length of the path, of the data, offset, and two of
 * zeros), then path and data.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum operation { CREATE = 1, WRITE, TRUNCATE, SYNC, UNLINK };

static void record(enum operation operation, const char *path, const void *data, size_t size,
		   off_t offset)
{
	const char *folder = getenv("RECORD_FOLDER"), *log = getenv("RECORD_LOG");
	uint32_t head[6] = {operation, (uint32_t)strlen(path), (uint32_t)size, (uint32_t)offset};
	int fd, kept = errno;

	if (!folder || !log || strncmp(path, folder, strlen(folder)))
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			  0600);
	if (syscall(SYS_write, fd, head, sizeof(head)) != sizeof(head) ||
	    syscall(SYS_write, fd, path, strlen(path)) != (long)strlen(path) ||
	    syscall(SYS_write, fd, data, size) != (long)size)
		abort();
	syscall(SYS_close, fd);
	errno = kept;
}

static const char *path_of(int fd, char path[static PATH_MAX])
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_MAX - 1);
	path[length > 0 ? length : 0] = '\0';
	return path;
}

static int opened(const char *path, int flags, mode_t mode)
{
	int created = (flags & O_CREAT) && access(path, F_OK);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);

	if (fd >= 0 && created)
		record(CREATE, path, "", 0, 0);
	if (fd >= 0 && (flags & O_TRUNC) && !created)
		record(TRUNCATE, path, "", 0, 0);
	return fd;
}

/* The names in the library, whatever the headers make of them for large files. */
#define SHOWN(result, function, name, ...)                                                 \
	__attribute__((visibility("default"))) result function(__VA_ARGS__) __asm__(name); \
	result function(__VA_ARGS__)

#define OPEN(function, name)                                         \
	SHOWN(int, function, name, const char *path, int flags, ...) \
	{                                                            \
		va_list list;                                        \
		mode_t mode = 0;                                     \
                                                                     \
		va_start(list, flags);                               \
		if (flags & O_CREAT)                                 \
			mode = (mode_t)va_arg(list, unsigned);       \
		va_end(list);                                        \
		return opened(path, flags, mode);                    \
	}
OPEN(note_open, "open")
OPEN(note_open64, "open64")

SHOWN(ssize_t, note_pwrite, "pwrite64", int fd, const void *data, size_t size, off_t offset)
{
	ssize_t written = syscall(SYS_pwrite64, fd, data, size, offset);
	char path[PATH_MAX];

	if (written > 0)
		record(WRITE, path_of(fd, path), data, (size_t)written, offset);
	return written;
}

SHOWN(int, note_truncate, "ftruncate64", int fd, off_t size)
{
	char path[PATH_MAX];

	record(TRUNCATE, path_of(fd, path), "", 0, size);
	return (int)syscall(SYS_ftruncate, fd, size);
}

#define SYNCHRONISE(name)                                  \
	SHOWN(int, note_##name, #name, int fd)             \
	{                                                  \
		char path[PATH_MAX];                       \
                                                           \
		record(SYNC, path_of(fd, path), "", 0, 0); \
		return (int)syscall(SYS_##name, fd);       \
	}
SYNCHRONISE(fsync)
SYNCHRONISE(fdatasync)

SHOWN(int, note_unlink, "unlink", const char *path)
{
	int result = (int)syscall(SYS_unlink, path);

	if (!result)
		record(UNLINK, path, "", 0, 0);
	return result;
}
