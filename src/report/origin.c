/* SPDX-License-Identifier: Apache-2.0 */
#include "report/origin.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/image.h"
#include "report/package.h"

#define LISTS "/var/lib/dpkg"

struct noted {
	char *build_id, *path;
};

struct origins {
	struct noted *files; /* one for each build id */
	size_t count, capacity;
	char host[HOST_NAME_MAX + 1];
	bool here, elsewhere; /* where what was noted has been seen */
};

struct origins *origins_create(void)
{
	struct origins *origins = calloc(1, sizeof(*origins));

	if (origins && gethostname(origins->host, sizeof(origins->host) - 1))
		origins->host[0] = '\0';
	return origins;
}

void origins_destroy(struct origins *origins)
{
	if (!origins)
		return;
	for (size_t i = 0; i < origins->count; i++) {
		free(origins->files[i].build_id);
		free(origins->files[i].path);
	}
	free(origins->files);
	free(origins);
}

static const char *path_of(const struct origins *origins, const char *build_id)
{
	for (size_t i = 0; i < origins->count; i++)
		if (strcmp(origins->files[i].build_id, build_id) == 0)
			return origins->files[i].path;
	return NULL;
}

static int add(struct origins *origins, const char *build_id, const char *path)
{
	struct noted noted;

	if (origins->count == origins->capacity) {
		size_t capacity = origins->capacity ? 2 * origins->capacity : 16;
		struct noted *grown = realloc(origins->files, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		origins->files = grown;
		origins->capacity = capacity;
	}
	noted = (struct noted){strdup(build_id), strdup(path)};
	if (!noted.build_id || !noted.path) {
		free(noted.build_id);
		free(noted.path);
		return -ENOMEM;
	}
	origins->files[origins->count++] = noted;
	return 0;
}

static int note_stack(struct origins *origins, const struct finding_stack *stack)
{
	int err = 0;

	for (size_t i = 0; !err && i < stack->count; i++) {
		const struct finding_frame *frame = &stack->frames[i];

		if (frame->build_id && *frame->build_id && frame->module &&
		    !path_of(origins, frame->build_id))
			err = add(origins, frame->build_id, frame->module);
	}
	return err;
}

static bool is_here(const struct origins *origins, const struct finding *finding)
{
	return finding->host && *finding->host && strcmp(finding->host, origins->host) == 0;
}

int origins_note(struct origins *origins, const struct finding *finding)
{
	int err = 0;

	for (size_t i = 0; !err && i < finding->access_count; i++)
		err = note_stack(origins, &finding->accesses[i].stack);
	origins->here |= is_here(origins, finding);
	origins->elsewhere |= !is_here(origins, finding);
	return err;
}

static bool has_build_id(const char *path, const char *build_id)
{
	char text[SYMBOL_BUILD_ID_TEXT] = "";
	struct symbol_image image;
	int fd = file_open(path);

	if (fd < 0)
		return false;
	if (symbol_image_read_file(fd, &image) == 0)
		symbol_build_id_format(&image.build_id, text);
	close(fd);
	return text[0] && strcmp(text, build_id) == 0;
}

int origins_package(const struct origins *origins, const struct finding_frame *frame, char *text,
		    size_t size)
{
	const char *path;

	if (!frame->build_id || !*frame->build_id)
		return -ENOENT;
	path = path_of(origins, frame->build_id);
	if (!path)
		path = frame->module;
	if (!path || !has_build_id(path, frame->build_id))
		return -ENOENT;
	return package_find(LISTS, path, text, size);
}

int origins_kernel(const struct origins *origins, const struct finding *finding, char *text,
		   size_t size)
{
	struct utsname system;
	bool here = finding->host ? is_here(origins, finding)
				  : origins->here && !origins->elsewhere;

	if (!here || uname(&system))
		return -ENOENT;
	snprintf(text, size, "%s %s %s", system.sysname, system.release, system.machine);
	return 0;
}
