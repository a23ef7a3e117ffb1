/* SPDX-License-Identifier: Apache-2.0 */
#include "module/module_file.h"

#include "base/file.h"
#include "elf/debug_file.h"
#include "elf/image.h"
#include "session/asker.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VDSO_MAX (1u << 20)

bool symbol_module_file_is_plain(const char *path, uint64_t inode)
{
	struct stat status;

	return stat(path, &status) == 0 && status.st_ino == inode;
}

/* Without a build-id only the inode tells a file from its replacement. */
static bool may_be_it(const struct symbol_module *module, int fd)
{
	struct stat status;

	if (module->build_id.length || module->recorded || module->inode == 0)
		return true;
	return fstat(fd, &status) == 0 && status.st_ino == module->inode;
}

static int open_path(const struct symbol_module *module, const char *text, char **path)
{
	int fd = file_open(text);

	if (fd < 0)
		return -ENOENT;
	if (!may_be_it(module, fd)) {
		close(fd);
		return -ENOENT;
	}
	*path = strdup(text);
	return fd;
}

static int open_in_namespace(const struct symbol_module *module, pid_t pid, char **path)
{
	char text[PATH_MAX];

	if (pid <= 0 || module->path[0] != '/')
		return -ENOENT;
	if (snprintf(text, sizeof(text), "/proc/%d/root%s", pid, module->path) >= (int)sizeof(text))
		return -ENOENT;
	return open_path(module, text, path);
}

/* The mapped file itself, however it was renamed or unlinked. Needs CAP_CHECKPOINT_RESTORE. */
static int open_mapped(const struct symbol_module *module, pid_t pid, char **path)
{
	struct symbol_mappings mappings;
	const struct symbol_mapping *mapping;
	char text[96] = "";
	int fd = -ENOENT;

	if (pid <= 0 || symbol_mappings_read(pid, &mappings) < 0)
		return -ENOENT;
	mapping = symbol_mappings_find(&mappings, module->start);
	if (mapping && mapping->inode == module->inode) {
		snprintf(text, sizeof(text), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid,
			 mapping->start, mapping->end);
		fd = file_open(text);
		if (fd >= 0)
			*path = strdup(module->path);
	}
	symbol_mappings_free(&mappings);
	return fd < 0 ? -ENOENT : fd;
}

static int copy_to_file(const struct symbol_memory *memory, uint64_t start, size_t length)
{
	uint8_t *bytes = malloc(length);
	int fd = bytes ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 && (symbol_memory_read(memory, start, bytes, length) < 0 ||
			write(fd, bytes, length) != (ssize_t)length)) {
		close(fd);
		fd = -1;
	}
	free(bytes);
	return fd < 0 ? -ENOENT : fd;
}

/* The vdso has no file: it is copied from the process, or from ourselves (same kernel, same
 * build-id) when the process is gone. */
static int open_vdso(const struct symbol_module *module, pid_t pid)
{
	struct symbol_memory memory = symbol_memory_of_process(pid > 0 ? pid : getpid());
	uint64_t start = pid > 0 ? module->start : getauxval(AT_SYSINFO_EHDR);
	uint64_t length = module->end - module->start;
	struct symbol_image image;
	int fd = -ENOENT;

	if (length == 0 || length > VDSO_MAX || start == 0)
		return -ENOENT;
	if (pid > 0)
		fd = copy_to_file(&memory, start, length);
	if (fd >= 0 || module->build_id.length == 0)
		return fd;
	memory = symbol_memory_of_process(getpid());
	start = getauxval(AT_SYSINFO_EHDR);
	if (start == 0 || symbol_image_read_memory(&memory, start, &image) < 0 ||
	    !symbol_build_id_equal(&image.build_id, &module->build_id))
		return -ENOENT;
	return copy_to_file(&memory, start, length);
}

int symbol_module_file_open(struct symbol_session *session, const struct symbol_module *module,
			    pid_t pid, unsigned attempt, char **path)
{
	*path = NULL;
	if (session->asker && attempt < SYMBOL_MODULE_FILE_BY_ID)
		return session->asker->module_file(module, attempt, path);
	if (module->path[0] == '[')
		return attempt == 0 ? open_vdso(module, pid) : -ENOENT;
	switch (attempt) {
	case 0:
		return open_in_namespace(module, pid, path);
	case 1:
		return open_path(module, module->path, path);
	case 2:
		return open_mapped(module, pid, path);
	case SYMBOL_MODULE_FILE_BY_ID:
		return module->build_id.length
			       ? symbol_debug_file_find_program(session, &module->build_id, path)
			       : -ENOENT;
	default:
		return -ENOENT;
	}
}
