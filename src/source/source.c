/* SPDX-License-Identifier: Apache-2.0 */
#include "source/source.h"

#include "base/file.h"
#include "session/asking.h"
#include "session/session.h"
#include "source/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_BYTES_MAX (16u << 20)
#define SOURCES_MAX 8192

/* Below the source directories. NULL: it is not there, or cannot be told from others. */
static const char *find_given(struct symbol_session *session, const char *path,
			      const struct symbol_source_hint *hint)
{
	const char *found;
	bool ambiguous;

	if (!session->source_directories[0])
		return NULL;
	if (!session->source_index)
		session->source_index = symbol_source_index_read(session->source_directories);
	if (!session->source_index)
		return NULL;
	found = symbol_source_index_find(session->source_index, path, hint, &ambiguous);
	if (ambiguous) {
		symbol_count(session, SYMBOL_STATISTIC_SOURCES_AMBIGUOUS);
		session->source_ambiguous = symbol_keep(session, path);
	}
	return found;
}

/* A relative path leads nowhere but below the directories, or from the working directory. */
static int open_source(struct symbol_session *session, const char *path,
		       const struct symbol_source_hint *hint, const char **opened, bool *given)
{
	int fd = path[0] == '/' ? file_open(path) : -1;
	const char *found = fd < 0 ? find_given(session, path, hint) : NULL;

	*given = found != NULL;
	*opened = found ? found : path;
	return fd < 0 ? file_open(*opened) : fd;
}

static char *read_all(int fd, size_t *length, time_t *modified)
{
	struct stat status;
	char *text;
	ssize_t got;

	if (fstat(fd, &status) < 0 || status.st_size < 0 ||
	    (uint64_t)status.st_size > SOURCE_BYTES_MAX)
		return NULL;
	*modified = status.st_mtime;
	text = malloc((size_t)status.st_size + 1);
	if (!text)
		return NULL;
	got = read(fd, text, (size_t)status.st_size);
	if (got < 0) {
		free(text);
		return NULL;
	}
	*length = (size_t)got;
	text[got] = 0;
	return text;
}

static void index_lines(struct symbol_source *source)
{
	size_t count = 1, at = 1;

	for (size_t i = 0; i < source->length; i++)
		count += source->text[i] == '\n';
	source->line = calloc(count, sizeof(*source->line));
	if (!source->line)
		return;
	for (size_t i = 0; i < source->length && at < count; i++)
		if (source->text[i] == '\n')
			source->line[at++] = i + 1;
	source->line_count = count;
}

struct symbol_source *symbol_source_find(struct symbol_session *session, const char *path,
					 const struct symbol_source_hint *hint)
{
	const char *kept = symbol_keep(session, path);
	struct symbol_source *source;
	const char *opened = NULL;
	int fd;

	for (source = session->sources; source; source = source->next)
		if (source->path == kept)
			return source;
	source = session->source_count < SOURCES_MAX ? calloc(1, sizeof(*source)) : NULL;
	if (!source)
		return NULL;
	source->path = kept;
	source->next = session->sources;
	session->sources = source;
	session->source_count++;
	fd = kept ? open_source(session, path, hint, &opened, &source->given) : -1;
	if (fd >= 0) {
		source->text = read_all(fd, &source->length, &source->modified);
		close(fd);
	}
	if (source->text && opened) {
		source->opened = strdup(opened);
		index_lines(source);
	} else {
		symbol_count(session, SYMBOL_STATISTIC_SOURCES_MISSING);
	}
	return source;
}

int symbol_source_line(struct symbol_session *session, const char *path, unsigned number,
		       char *text, size_t size)
{
	const struct symbol_source_hint hint = {.line = number};
	const struct symbol_source *source;
	size_t start, length;
	int result;

	if (SYMBOL_ASK(session, source_line, session, path, number, text, size, &result))
		return result;
	source = symbol_source_find(session, path, &hint);
	if (!source || number == 0 || number > source->line_count || size == 0)
		return -ENOENT;
	start = source->line[number - 1];
	length = strcspn(source->text + start, "\r\n");
	if (length >= size)
		length = size - 1;
	memcpy(text, source->text + start, length);
	text[length] = 0;
	return 0;
}

void symbol_sources_free(struct symbol_session *session)
{
	struct symbol_source *source = session->sources;

	session->sources = NULL;
	symbol_source_index_free(session->source_index);
	while (source) {
		struct symbol_source *next = source->next;

		symbol_tokens_free(source->tokens);
		free(source->opened);
		free(source->text);
		free(source->line);
		free(source);
		source = next;
	}
}
