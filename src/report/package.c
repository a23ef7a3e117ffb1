/* SPDX-License-Identifier: Apache-2.0 */
#include "report/package.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_SUFFIX ".list"
#define MERGED "/usr"

/* A file that is mapped from /usr/lib may be listed below /lib, from where a link leads there. */
static bool is_listed_as(const char *line, const char *path)
{
	size_t merged = sizeof(MERGED) - 1;

	return strcmp(line, path) == 0 ||
	       (strncmp(path, MERGED "/", merged + 1) == 0 && strcmp(line, path + merged) == 0) ||
	       (strncmp(line, MERGED "/", merged + 1) == 0 && strcmp(line + merged, path) == 0);
}

static FILE *open_below(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s", folder, name);

	return length < 0 || (size_t)length >= sizeof(path) ? NULL : fopen(path, "re");
}

/* The next line without its newline, or NULL. */
static char *next_line(FILE *stream, char **line, size_t *capacity)
{
	ssize_t length = getline(line, capacity, stream);

	if (length < 0)
		return NULL;
	if (length && (*line)[length - 1] == '\n')
		(*line)[length - 1] = '\0';
	return *line;
}

static bool list_has(const char *folder, const char *name, const char *path)
{
	FILE *stream = open_below(folder, name);
	size_t capacity = 0;
	char *line = NULL;
	bool found = false;

	if (!stream)
		return false;
	while (!found && next_line(stream, &line, &capacity))
		found = is_listed_as(line, path);
	free(line);
	fclose(stream);
	return found;
}

/* NAME or NAME:ARCHITECTURE of the package whose list has the file. */
static int find_owner(const char *lists, const char *path, char *owner, size_t size)
{
	char folder[PATH_MAX];
	const struct dirent *entry;
	DIR *directory;
	int err = -ENOENT;

	snprintf(folder, sizeof(folder), "%s/info", lists);
	directory = opendir(folder);
	if (!directory)
		return -ENOENT;
	while (err && (entry = readdir(directory))) {
		size_t length = strlen(entry->d_name), suffix = sizeof(LIST_SUFFIX) - 1;

		if (length <= suffix || length - suffix >= size ||
		    strcmp(entry->d_name + length - suffix, LIST_SUFFIX) != 0 ||
		    !list_has(folder, entry->d_name, path))
			continue;
		memcpy(owner, entry->d_name, length - suffix);
		owner[length - suffix] = '\0';
		err = 0;
	}
	closedir(directory);
	return err;
}

static const char *field(const char *line, const char *name)
{
	size_t length = strlen(name);

	return strncmp(line, name, length) == 0 ? line + length : NULL;
}

/* What one stanza of dpkg's status file says of the package that is looked for. */
struct stanza {
	bool named, other;
	char version[128];
};

static void take_line(struct stanza *stanza, const char *line, const char *name,
		      const char *architecture)
{
	const char *value;

	if ((value = field(line, "Package: ")))
		stanza->named = strcmp(value, name) == 0;
	else if ((value = field(line, "Architecture: ")))
		stanza->other = architecture && strcmp(value, architecture) != 0;
	else if ((value = field(line, "Version: ")))
		snprintf(stanza->version, sizeof(stanza->version), "%s", value);
}

static bool is_it(const struct stanza *stanza)
{
	return stanza->named && !stanza->other && stanza->version[0];
}

static int find_version(const char *lists, const char *name, const char *architecture, char *text,
			size_t size)
{
	FILE *stream = open_below(lists, "status");
	struct stanza stanza = {.named = false};
	size_t capacity = 0;
	char *line = NULL;

	if (!stream)
		return -ENOENT;
	while (next_line(stream, &line, &capacity)) {
		if (*line)
			take_line(&stanza, line, name, architecture);
		else if (is_it(&stanza))
			break;
		else
			stanza = (struct stanza){.named = false};
	}
	free(line);
	fclose(stream);
	if (!is_it(&stanza))
		return -ENOENT;
	snprintf(text, size, "%s %s", name, stanza.version);
	return 0;
}

int package_find(const char *lists, const char *path, char *text, size_t size)
{
	char owner[NAME_MAX + 1];
	char *architecture;
	int err;

	if (*path != '/')
		return -ENOENT;
	err = find_owner(lists, path, owner, sizeof(owner));
	if (err)
		return err;
	architecture = strchr(owner, ':');
	if (architecture)
		*architecture++ = '\0';
	return find_version(lists, owner, architecture, text, size);
}
