/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/unit.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define OWN_NAME "trapline.conf"
#define SUFFIX ".service"
#define NAME_MAX_LENGTH 200
#define DROP_INS_MAX 64

/* systemd.unit(5), "unit file load path", the first has precedence. */
static const char *const folders[] = {"/etc/systemd/system", "/run/systemd/system",
				      "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
				      "/lib/systemd/system"};
#define FOLDER_COUNT (sizeof(folders) / sizeof(folders[0]))

bool unit_is_name(const char *name)
{
	size_t length = strlen(name);

	if (!length || length > NAME_MAX_LENGTH || name[0] == '.' || name[0] == '-')
		return false;
	for (const char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr(":-_.\\@", *at))
			return false;
	return true;
}

static int stem_length(const char *name)
{
	size_t length = strlen(name), suffix = strlen(SUFFIX);

	if (length > suffix && strcmp(name + length - suffix, SUFFIX) == 0)
		length -= suffix;
	return (int)length;
}

char *unit_drop_in(const char *root, const char *name)
{
	char *path;

	if (asprintf(&path, "%s%s/%.*s" SUFFIX ".d/" OWN_NAME, root, folders[0], stem_length(name),
		     name) < 0)
		return NULL;
	return path;
}

static char *trimmed(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

static void forget_commands(struct unit *unit)
{
	for (size_t i = 0; i < unit->count; i++)
		free(unit->command[i]);
	unit->count = 0;
	unit->too_many = false;
}

/* An empty value takes back what was said before. */
static void take_command(struct unit *unit, const char *value)
{
	if (!*value) {
		forget_commands(unit);
		return;
	}
	if (unit->count == UNIT_COMMANDS_MAX || !(unit->command[unit->count] = strdup(value)))
		unit->too_many = true;
	else
		unit->count++;
}

/* Takes a setting, be it a list or a single value: an empty value takes back what was said
 * before. */
static void take_setting(struct unit *unit, const char *name, bool set)
{
	const struct {
		const char *name;
		bool *is_set;
	} settings[] = {
		{"SystemCallFilter", &unit->filters},	 {"NoExecPaths", &unit->forbids},
		{"RootDirectory", &unit->has_root},	 {"RootImage", &unit->has_root},
		{"SyslogIdentifier", &unit->identified},
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strcmp(name, settings[i].name) == 0)
			*settings[i].is_set = set;
}

static void take_line(struct unit *unit, char *line, bool *in_service)
{
	char *text = trimmed(line), *equals = strchr(text, '='), *value;

	if (*text == '[') {
		*in_service = strcmp(text, "[Service]") == 0;
		return;
	}
	if (!*in_service || !equals)
		return;
	*equals = '\0';
	text = trimmed(text);
	value = trimmed(equals + 1);
	if (strcmp(text, "ExecStart") == 0)
		take_command(unit, value);
	else
		take_setting(unit, text, *value);
}

static bool is_comment(const char *line)
{
	while (isspace((unsigned char)*line))
		line++;
	return *line == '#' || *line == ';';
}

/* A line that ends in a backslash goes on with the next; comments may stand between. */
static bool read_file(struct unit *unit, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, *whole = NULL, *longer;
	bool in_service = false, goes_on;
	size_t size = 0;

	if (!file)
		return false;
	while (getline(&line, &size, file) > 0) {
		if (is_comment(line))
			continue;
		line[strcspn(line, "\n")] = '\0';
		goes_on = *line && line[strlen(line) - 1] == '\\';
		if (goes_on)
			line[strlen(line) - 1] = ' ';
		if (asprintf(&longer, "%s%s", whole ? whole : "", line) < 0)
			break;
		free(whole);
		whole = longer;
		if (goes_on)
			continue;
		take_line(unit, whole, &in_service);
		free(whole);
		whole = NULL;
	}
	if (whole)
		take_line(unit, whole, &in_service);
	free(whole);
	free(line);
	fclose(file);
	return true;
}

/* An instance, "getty@tty1", has its template's unit file. */
static bool read_unit_file(struct unit *unit, const char *root, const char *name, int length)
{
	for (size_t i = 0; i < FOLDER_COUNT; i++) {
		if (asprintf(&unit->path, "%s%s/%.*s" SUFFIX, root, folders[i], length, name) < 0) {
			unit->path = NULL;
			return false;
		}
		if (read_file(unit, unit->path))
			return true;
		free(unit->path);
		unit->path = NULL;
	}
	return false;
}

struct drop_ins {
	char *path[DROP_INS_MAX];
	size_t count;
};

static const char *base_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* Adds a drop-in unless one of the same name was found in an earlier folder, which hides it. */
static void add_drop_in(struct drop_ins *found, const char *folder, const char *name)
{
	size_t length = strlen(name);

	if (length < 6 || strcmp(name + length - 5, ".conf") != 0 || strcmp(name, OWN_NAME) == 0 ||
	    found->count == DROP_INS_MAX)
		return;
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(base_name(found->path[i]), name) == 0)
			return;
	if (asprintf(&found->path[found->count], "%s/%s", folder, name) >= 0)
		found->count++;
}

static void find_drop_ins(struct drop_ins *found, const char *root, const char *name, int length)
{
	for (size_t i = 0; i < FOLDER_COUNT; i++) {
		struct dirent *entry;
		char *folder;
		DIR *directory;

		if (asprintf(&folder, "%s%s/%.*s" SUFFIX ".d", root, folders[i], length, name) < 0)
			return;
		directory = opendir(folder);
		while (directory && (entry = readdir(directory)))
			add_drop_in(found, folder, entry->d_name);
		if (directory)
			closedir(directory);
		free(folder);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(base_name(*(char *const *)a), base_name(*(char *const *)b));
}

bool unit_read(struct unit *unit, const char *root, const char *name)
{
	struct drop_ins found = {.count = 0};
	const char *instance = strchr(name, '@');
	int length = stem_length(name);

	*unit = (struct unit){0};
	if (!read_unit_file(unit, root, name, length) &&
	    !(instance && read_unit_file(unit, root, name, (int)(instance + 1 - name))))
		return false;
	find_drop_ins(&found, root, name, length);
	/* systemd takes the template's drop-ins, too, unless another has the same name. */
	if (instance)
		find_drop_ins(&found, root, name, (int)(instance + 1 - name));
	qsort(found.path, found.count, sizeof(found.path[0]), compare);
	for (size_t i = 0; i < found.count; i++) {
		read_file(unit, found.path[i]);
		free(found.path[i]);
	}
	return true;
}

void unit_free(struct unit *unit)
{
	forget_commands(unit);
	free(unit->path);
	unit->path = NULL;
}
