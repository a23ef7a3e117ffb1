/* SPDX-License-Identifier: Apache-2.0 */
#include "report/source.h"

#include "base/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_MAX_BYTES (32 << 20) /* larger files are not sources */

static FILE *open_regular(const char *file, int *err)
{
	int fd = file_open(file);
	struct stat status;
	FILE *stream = NULL;

	if (fd < 0) {
		*err = fd;
		return NULL;
	}
	if (fstat(fd, &status) || status.st_size > SOURCE_MAX_BYTES)
		*err = -EINVAL;
	else if (!(stream = fdopen(fd, "r")))
		*err = -errno;
	if (!stream)
		close(fd);
	return stream;
}

/* Reads past one line; false at the end of the file. */
static bool skip_line(FILE *stream)
{
	int byte;

	do
		byte = getc_unlocked(stream);
	while (byte != '\n' && byte != EOF);
	return byte == '\n';
}

int source_line(const char *file, unsigned line, char *text, size_t size)
{
	int err = 0;
	FILE *stream = line ? open_regular(file, &err) : NULL;

	if (!stream)
		return line ? err : -ENOENT;
	while (--line)
		if (!skip_line(stream))
			break;
	if (line || !fgets(text, (int)size, stream))
		err = -ENOENT;
	else
		text[strcspn(text, "\r\n")] = '\0';
	fclose(stream);
	return err;
}
