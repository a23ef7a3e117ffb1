/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output_file.h"

#include "record/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Returns which of standard output and error is open for writing on this file; -1: neither. */
static int standard_of(const struct stat *file)
{
	struct stat status;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &status) && is_same(&status, file) &&
		    (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
			return fd;
	return -1;
}

/* Does the path stand for what somebody has open, by itself or by a folder of such names? */
static bool is_descriptor(const char *path)
{
	static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	static const char *const directories[] = {"/dev/fd/", "/proc/self/fd/",
						  "/proc/thread-self/fd/"};
	int length = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(path, names[i]) == 0 ||
		    strncmp(path, directories[i], strlen(directories[i])) == 0)
			return true;
	/* /proc/PID/fd/N, /proc/PID/task/TID/fd/N */
	if (sscanf(path, "/proc/%*[0-9]/fd/%n", &length) == 0 && length > 0)
		return true;
	return sscanf(path, "/proc/%*[0-9]/task/%*[0-9]/fd/%n", &length) == 0 && length > 0;
}

static int open_output(const char *path, int emptied)
{
	struct stat status;
	int standard = stat(path, &status) ? -1 : standard_of(&status);

	/* A second descriptor of the same open file shares its offset, so that both write behind
	 * what is there. */
	if (standard >= 0)
		return fcntl(standard, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | emptied, 0600);
}

bool output_file_is_shared(FILE *file)
{
	struct stat status;

	return !fstat(fileno(file), &status) && standard_of(&status) >= 0;
}

static FILE *open_stream(const char *path, int emptied)
{
	int fd = open_output(path, emptied);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

FILE *output_file_open_silently(const char *path)
{
	return open_stream(path, O_TRUNC);
}

FILE *output_file_open(const char *path)
{
	FILE *file = open_stream(path, 0);
	struct stat status;

	if (!file) {
		utf8_fprintf(stderr, "trapline: %s cannot be written: %s\n", path, strerror(errno));
		return NULL;
	}
	/* A file that existed gets that mode, too, if it is ours: values of variables will be in
	 * it. */
	if (!fstat(fileno(file), &status) && S_ISREG(status.st_mode) && !is_descriptor(path) &&
	    standard_of(&status) < 0 && fchmod(fileno(file), 0600))
		utf8_fprintf(stderr,
			     "trapline: %s is another user's and stays readable as it was\n", path);
	return file;
}

bool output_file_empty(FILE *file)
{
	struct stat status;

	if (fstat(fileno(file), &status) || !S_ISREG(status.st_mode) || standard_of(&status) >= 0)
		return true;
	return !ftruncate(fileno(file), 0);
}

char *output_file_replaceable(const char *path)
{
	struct stat status;

	if (is_descriptor(path))
		return NULL;
	if (stat(path, &status))
		return lstat(path, &status) ? strdup(path) : NULL; /* a link to nothing */
	if (!S_ISREG(status.st_mode) || standard_of(&status) >= 0)
		return NULL;
	return realpath(path, NULL);
}

FILE *output_file_open_beside(const char *path, char **beside)
{
	int fd;

	if (asprintf(beside, "%s.XXXXXX", path) < 0) {
		*beside = NULL;
		return NULL;
	}
	fd = mkostemp(*beside, O_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

static bool is_still_there(const char *path, const struct stat *old)
{
	struct stat status;

	return !stat(path, &status) && status.st_dev == old->st_dev && status.st_ino == old->st_ino;
}

bool output_file_replace(const char *path, const struct stat *old, const char *beside, FILE *stream)
{
	return !fchmod(fileno(stream), old->st_mode) && is_still_there(path, old) &&
	       !rename(beside, path);
}
