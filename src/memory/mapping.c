/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/mapping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's own default bound is 65530 (vm.max_map_count); it can be raised. */
#define MAPPINGS_MAX (1u << 20)

static enum symbol_mapping_use use_of(const char *path)
{
	if (!*path || strncmp(path, "[anon", 5) == 0)
		return SYMBOL_MAPPING_ANONYMOUS;
	if (strcmp(path, "[heap]") == 0)
		return SYMBOL_MAPPING_BREAK;
	if (strncmp(path, "[stack", 6) == 0)
		return SYMBOL_MAPPING_STACK;
	return *path == '[' ? SYMBOL_MAPPING_KERNEL : SYMBOL_MAPPING_FILE;
}

/* One line, without its newline. 0, or -EINVAL. The caller frees mapping->path. */
static int symbol_mapping_parse(const char *line, struct symbol_mapping *mapping)
{
	static const char deleted[] = " (deleted)";
	char permissions[5];
	int at = 0;
	size_t length;

	memset(mapping, 0, sizeof(*mapping));
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &mapping->start, &mapping->end, permissions, &mapping->offset,
		   &mapping->device_major, &mapping->device_minor, &mapping->inode, &at) != 7 ||
	    at == 0 || mapping->start >= mapping->end)
		return -EINVAL;
	mapping->readable = permissions[0] == 'r';
	mapping->writable = permissions[1] == 'w';
	mapping->executable = permissions[0] && permissions[1] && permissions[2] == 'x';
	mapping->shared = strlen(permissions) == 4 && permissions[3] == 's';
	mapping->use = use_of(line + at);
	mapping->path = strdup(line + at);
	if (!mapping->path)
		return -ENOMEM;
	length = strlen(mapping->path);
	if (length > strlen(deleted) &&
	    strcmp(mapping->path + length - strlen(deleted), deleted) == 0) {
		mapping->deleted = true;
		mapping->path[length - strlen(deleted)] = 0;
	}
	return 0;
}

static int append(struct symbol_mappings *mappings, const struct symbol_mapping *mapping)
{
	if ((mappings->count & (mappings->count - 1)) == 0) {
		size_t room = mappings->count ? mappings->count * 2 : 1;
		void *grown = room > MAPPINGS_MAX
				      ? NULL
				      : realloc(mappings->mapping, room * sizeof(*mapping));

		if (!grown)
			return -ENOMEM;
		mappings->mapping = grown;
	}
	mappings->mapping[mappings->count++] = *mapping;
	return 0;
}

static int read_lines(FILE *file, struct symbol_mappings *mappings)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int error = 0;

	while (!error && (length = getline(&line, &size, file)) > 0) {
		struct symbol_mapping mapping;

		if (line[length - 1] == '\n')
			line[length - 1] = 0;
		if (symbol_mapping_parse(line, &mapping) < 0) {
			free(mapping.path);
			continue;
		}
		error = append(mappings, &mapping);
		if (error)
			free(mapping.path);
	}
	free(line);
	return error;
}

int symbol_mappings_read(int pid, struct symbol_mappings *mappings)
{
	char path[64];
	FILE *file;
	int error;

	memset(mappings, 0, sizeof(*mappings));
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	error = read_lines(file, mappings);
	fclose(file);
	if (!error && mappings->count == 0)
		error = -ESRCH;
	if (error)
		symbol_mappings_free(mappings);
	return error;
}

const struct symbol_mapping *symbol_mappings_find(const struct symbol_mappings *mappings,
						  uint64_t address)
{
	size_t low = 0, high = mappings->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct symbol_mapping *mapping = &mappings->mapping[middle];

		if (address < mapping->start)
			high = middle;
		else if (address >= mapping->end)
			low = middle + 1;
		else
			return mapping;
	}
	return NULL;
}

void symbol_mappings_free(struct symbol_mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		free(mappings->mapping[i].path);
	free(mappings->mapping);
	memset(mappings, 0, sizeof(*mappings));
}
