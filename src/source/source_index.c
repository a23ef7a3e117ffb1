/* SPDX-License-Identifier: Apache-2.0 */
#include "source/source_index.h"

#include "base/path.h"
#include "base/text.h"

#include "base/file.h"

#include <fts.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX (1u << 20)
#define COMPONENTS_MAX 128
#define CANDIDATES_MAX 64 /* with equally long ends that are looked into */
#define BYTES_MAX (16u << 20)
#define LINES_AROUND 3 /* a function's name can stand below its type, or above its parameters */

struct symbol_source_index {
	char **file; /* by name, then path */
	size_t count, capacity;
};

static int compare_files(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int order = strcmp(path_name(x), path_name(y));

	return order ? order : strcmp(x, y);
}

static bool add(struct symbol_source_index *index, const char *path)
{
	if (index->count == index->capacity) {
		size_t capacity = index->capacity ? 2 * index->capacity : 1024;
		char **file = reallocarray(index->file, capacity, sizeof(*file));

		if (!file)
			return false;
		index->file = file;
		index->capacity = capacity;
	}
	index->file[index->count] = strdup(path);
	return index->file[index->count] && ++index->count < FILES_MAX;
}

/* Hidden directories hold what version control and editors keep. */
static bool is_hidden(const FTSENT *entry)
{
	return entry->fts_info == FTS_D && entry->fts_level > 0 && entry->fts_name[0] == '.';
}

struct symbol_source_index *symbol_source_index_read(char *const *directories)
{
	struct symbol_source_index *index = calloc(1, sizeof(*index));
	FTS *walk = index && *directories ? fts_open(directories, FTS_PHYSICAL | FTS_NOCHDIR, NULL)
					  : NULL;
	FTSENT *entry;

	while (walk && (entry = fts_read(walk))) {
		if (is_hidden(entry))
			fts_set(walk, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F && !add(index, entry->fts_path))
			break;
	}
	if (walk)
		fts_close(walk);
	if (index && index->count)
		qsort(index->file, index->count, sizeof(*index->file), compare_files);
	return index;
}

void symbol_source_index_free(struct symbol_source_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->count; i++)
		free(index->file[i]);
	free(index->file);
	free(index);
}

struct component {
	const char *text;
	size_t length;
};

/* Without ".", empty ones, and what ".." takes back. */
static size_t split(const char *path, struct component *to)
{
	size_t count = 0, length;

	for (; *path; path += length + (path[length] == '/')) {
		length = strcspn(path, "/");
		if (length == 0 || (length == 1 && path[0] == '.'))
			continue;
		if (length == 2 && path[0] == '.' && path[1] == '.')
			count -= count > 0;
		else if (count < COMPONENTS_MAX)
			to[count++] = (struct component){path, length};
	}
	return count;
}

static size_t common_end(const struct component *wanted, size_t count, const char *path)
{
	struct component own[COMPONENTS_MAX];
	size_t have = split(path, own), same = 0;

	while (same < count && same < have &&
	       wanted[count - 1 - same].length == own[have - 1 - same].length &&
	       memcmp(wanted[count - 1 - same].text, own[have - 1 - same].text,
		      own[have - 1 - same].length) == 0)
		same++;
	return same;
}

static char *read_text(const char *path, size_t *length)
{
	struct stat status;
	int fd = file_open(path);
	char *text = NULL;
	ssize_t got = -1;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && status.st_size >= 0 && (uint64_t)status.st_size <= BYTES_MAX)
		text = malloc((size_t)status.st_size + 1);
	if (text)
		got = read(fd, text, (size_t)status.st_size);
	close(fd);
	if (got < 0) {
		free(text);
		return NULL;
	}
	text[got] = '\0';
	*length = (size_t)got;
	return text;
}

/* The name alone: without scopes, template arguments and parameters. */
static size_t plain_name(const char **name)
{
	size_t length = strcspn(*name, "(<");
	const char *from = *name;

	for (size_t i = 0; i + 1 < length; i++)
		if (from[i] == ':' && from[i + 1] == ':')
			*name = from + i + 2;
	return length - (size_t)(*name - from);
}

/* By itself, not within another: a name found by chance makes a file of another version fit. */
static bool has_name(const char *line, size_t length, const char *name, size_t size)
{
	const char *end = line + length, *at = line;

	for (; (at = memmem(at, (size_t)(end - at), name, size)); at++) {
		bool begins = at == line || !text_is_of_identifier(at[-1]) ||
			      !text_is_of_identifier(name[0]);
		bool ends = at + size == end || !text_is_of_identifier(at[size]) ||
			    !text_is_of_identifier(name[size - 1]);

		if (begins && ends)
			return true;
	}
	return false;
}

bool symbol_source_fits(const char *text, size_t length, const struct symbol_source_hint *hint)
{
	const char *name = hint->function, *at = text, *end = text + length;
	size_t size = name ? plain_name(&name) : 0;
	bool named = !size || !hint->function_line;
	unsigned line = 1;

	for (; at < end; line++) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		size_t part = next ? (size_t)(next - at) : (size_t)(end - at);

		if (!named && line + LINES_AROUND >= hint->function_line &&
		    line <= hint->function_line + LINES_AROUND)
			named = has_name(at, part, name, size);
		at += part + 1;
	}
	return named && line > hint->line;
}

/* Keeps of the candidates those that fit; *same tells whether their texts are one. */
static size_t choose(const char **candidate, size_t count, const struct symbol_source_hint *hint,
		     bool *same)
{
	char *first = NULL;
	size_t kept = 0, first_length = 0;

	*same = true;
	for (size_t i = 0; i < count; i++) {
		size_t length = 0;
		char *text = read_text(candidate[i], &length);

		if (!text || !symbol_source_fits(text, length, hint)) {
			free(text);
			continue;
		}
		candidate[kept++] = candidate[i];
		if (!first) {
			first = text;
			first_length = length;
			continue;
		}
		*same &= length == first_length && memcmp(text, first, length) == 0;
		free(text);
	}
	free(first);
	return kept;
}

static size_t first_called(const struct symbol_source_index *index, const char *name)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(path_name(index->file[middle]), name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *symbol_source_index_find(const struct symbol_source_index *index, const char *path,
				     const struct symbol_source_hint *hint, bool *ambiguous)
{
	struct component wanted[COMPONENTS_MAX];
	const char *candidate[CANDIDATES_MAX], *name = path_name(path);
	size_t count = split(path, wanted), best = 0, candidates = 0;
	bool same;

	*ambiguous = false;
	for (size_t i = first_called(index, name);
	     i < index->count && strcmp(path_name(index->file[i]), name) == 0; i++) {
		size_t end = common_end(wanted, count, index->file[i]);

		if (end > best)
			candidates = 0;
		if (end >= best && end && candidates < CANDIDATES_MAX) {
			best = end;
			candidate[candidates++] = index->file[i];
		}
	}
	candidates = choose(candidate, candidates, hint, &same);
	*ambiguous = candidates > 1 && !same;
	return candidates && same ? candidate[0] : NULL;
}
