/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/contexts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LINE "trapline heap contexts 1\n"
#define LINE_SIZE (SYMBOL_BUILD_ID_TEXT + 64)

static const char *const evidence_words[] = {" after", " before", " freed"};

struct context *contexts_find(struct contexts *contexts, const char *build_id, uint64_t offset)
{
	for (unsigned i = 0; i < contexts->count; i++)
		if (contexts->context[i].offset == offset &&
		    strcmp(contexts->context[i].build_id, build_id) == 0)
			return &contexts->context[i];
	return NULL;
}

bool contexts_add(struct contexts *contexts, const char *build_id, uint64_t offset,
		  unsigned evidence)
{
	struct context *context = contexts_find(contexts, build_id, offset);

	if (!context) {
		context = &contexts->context[contexts->count];
		if (contexts->count == CONTEXTS_MAX ||
		    strlen(build_id) >= sizeof(context->build_id))
			return false;
		strcpy(context->build_id, build_id);
		context->offset = offset;
		context->evidence = 0;
		contexts->count++;
	}
	context->evidence |= evidence;
	return true;
}

/* The words from there to the end of the line; false: there is something else. */
static bool take_evidence(const char *text, unsigned *evidence)
{
	*evidence = 0;
	for (unsigned i = 0; i < 3; i++) {
		size_t length = strlen(evidence_words[i]);

		if (strncmp(text, evidence_words[i], length) != 0)
			continue;
		*evidence |= 1u << i;
		text += length;
	}
	return strcmp(text, "\n") == 0;
}

/* "BUILD-ID 0xOFFSET[ after][ before][ freed]\n" */
static bool take_line(struct contexts *contexts, char *line)
{
	char *blank = strchr(line, ' '), *end;
	struct symbol_build_id id;
	unsigned evidence;
	uint64_t offset;

	if (!blank || strncmp(blank, " 0x", 3) != 0)
		return false;
	*blank = '\0';
	errno = 0;
	offset = strtoull(blank + 3, &end, 16);
	if (errno || end == blank + 3 ||
	    strspn(blank + 3, "0123456789abcdef") != (size_t)(end - blank - 3) ||
	    !take_evidence(end, &evidence) || symbol_build_id_parse(line, &id) || !id.length)
		return false;
	return contexts_add(contexts, line, offset, evidence);
}

int contexts_read(struct contexts *contexts, FILE *stream, char error[CONTEXTS_ERROR])
{
	char line[LINE_SIZE];
	unsigned number = 1;

	if (fgets(line, sizeof(line), stream) && strcmp(line, FIRST_LINE) != 0) {
		snprintf(error, CONTEXTS_ERROR, "is no file of `trapline heap --remember`");
		return -EILSEQ;
	}
	while (fgets(line, sizeof(line), stream)) {
		number++;
		if (take_line(contexts, line))
			continue;
		snprintf(error, CONTEXTS_ERROR, "line %u is no context, or there are more than %u",
			 number, CONTEXTS_MAX);
		return -EILSEQ;
	}
	if (!ferror(stream))
		return 0;
	snprintf(error, CONTEXTS_ERROR, "cannot be read");
	return -EIO;
}

static int fail(char error[CONTEXTS_ERROR], int err)
{
	snprintf(error, CONTEXTS_ERROR, "%s", strerror(-err));
	return err;
}

/* Of a regular file alone: what never ends is none. */
static int read_file(struct contexts *contexts, int fd, char error[CONTEXTS_ERROR])
{
	struct stat status;
	FILE *stream;
	int err;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		close(fd);
		snprintf(error, CONTEXTS_ERROR, "is no regular file");
		return -EILSEQ;
	}
	stream = fdopen(fd, "r");
	if (!stream) {
		close(fd);
		return fail(error, -ENOMEM);
	}
	err = contexts_read(contexts, stream, error);
	fclose(stream);
	return err;
}

int contexts_load(struct contexts *contexts, const char *path, char error[CONTEXTS_ERROR])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT ? 0 : fail(error, -errno);
	return read_file(contexts, fd, error);
}

/* The file that is there once the lock is had: another run may have put a new one in its place. */
static int lock(const char *path, char error[CONTEXTS_ERROR])
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
	struct stat ours, there;

	if (fd < 0)
		return fail(error, -errno);
	if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &ours) && !stat(path, &there) &&
	    ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
		return fd;
	close(fd);
	return fail(error, -EAGAIN);
}

static bool write_line(const struct context *context, FILE *stream)
{
	bool good = fprintf(stream, "%s 0x%" PRIx64, context->build_id, context->offset) >= 0;

	for (unsigned i = 0; i < 3; i++)
		if (context->evidence & 1u << i)
			good &= fputs(evidence_words[i], stream) >= 0;
	return good && fputc('\n', stream) != EOF;
}

static int write_all(const struct contexts *contexts, int fd)
{
	FILE *stream = fdopen(fd, "w");
	bool bad;

	if (!stream) {
		close(fd);
		return -ENOMEM;
	}
	bad = fputs(FIRST_LINE, stream) < 0;
	for (unsigned i = 0; i < contexts->count; i++)
		bad |= !write_line(&contexts->context[i], stream);
	bad |= fflush(stream) || fsync(fd);
	bad |= fclose(stream) != 0;
	return bad ? -EIO : 0;
}

static int replace(const struct contexts *contexts, const char *path)
{
	char *beside;
	int fd, err;

	if (asprintf(&beside, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(beside, O_CLOEXEC);
	err = fd < 0 ? -errno : write_all(contexts, fd);
	if (!err && rename(beside, path))
		err = -errno;
	if (err && fd >= 0)
		unlink(beside);
	free(beside);
	return err;
}

int contexts_save(struct contexts *contexts, const char *path, char error[CONTEXTS_ERROR])
{
	int locked = lock(path, error), fd, err;

	if (locked < 0)
		return locked;
	fd = dup(locked);
	err = fd < 0 ? fail(error, -errno) : read_file(contexts, fd, error);
	if (!err) {
		err = replace(contexts, path);
		if (err)
			fail(error, err);
	}
	close(locked);
	return err;
}
