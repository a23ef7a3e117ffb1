/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the asker does for its reader. Everything asked for is checked as if by an enemy: a reader
 * is one as soon as a crafted file has taken it over. It can see no memory but that of the program
 * that its question is about, and open nothing but regular files of real file systems to read.
 */
#include "base/file.h"
#include "base/own_path.h"
#include "elf/debuginfod.h"
#include "module/module_file.h"
#include "module/modules.h"
#include "reader/protocol.h"
#include "reader/reader.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Room for one module in a list. */
#define ONE_MODULE (SYMBOL_PACKET_TEXT + 512u)
/* As in symbol_modules_find(). */
#define REFRESH_NANOSECONDS 100000000ull
/* Files looked for that count as much as a wish of another kind. */
#define PRESENT_PER_WISH 64u

static int reply(struct symbol_reader *reader, int fd, symbol_packet_wait_fn *wait)
{
	return symbol_packet_send(reader->socket, &reader->packet, fd, wait, reader);
}

static void begin(struct symbol_reader *reader, int result)
{
	symbol_packet_write(&reader->packet, SYMBOL_GRANT);
	symbol_packet_int(&reader->packet, &result);
}

/* ---- modules ---------------------------------------------------------------------------- */

/* The program's own module is the only one that it costs a look at the process to know. */
static void put_module(struct symbol_reader *reader, const struct symbol_module *module)
{
	struct symbol_module copy = *module;

	copy.held = module->fd >= 0;
	copy.main = reader->modules->pid && symbol_modules_is_main(reader->modules, module);
	symbol_packet_whole_module(&reader->packet, &copy);
}

static size_t that_fit(const struct symbol_modules *modules, uint64_t from)
{
	size_t count = 0;

	while (count < SYMBOL_PACKET_MAX / ONE_MODULE - 1 &&
	       symbol_modules_at(modules, (size_t)from + count))
		count++;
	return count;
}

static int grant_modules(struct symbol_reader *reader, symbol_packet_wait_fn *wait)
{
	struct symbol_modules *modules = reader->modules;
	uint64_t from = 0;
	size_t count;
	bool last;

	symbol_packet_u64(&reader->packet, &from);
	if (reader->packet.bad || from > UINT32_MAX)
		return -EPROTO;
	count = that_fit(modules, from);
	last = !symbol_modules_at(modules, (size_t)from + count);
	begin(reader, 0);
	symbol_packet_u64(&reader->packet, &modules->version);
	symbol_packet_bool(&reader->packet, &last);
	symbol_packet_count(&reader->packet, &count, SYMBOL_PACKET_MAX);
	for (size_t i = 0; i < count; i++)
		put_module(reader, symbol_modules_at(modules, (size_t)from + i));
	return reply(reader, -1, wait);
}

static int grant_refresh(struct symbol_reader *reader, symbol_packet_wait_fn *wait)
{
	struct symbol_modules *modules = reader->modules;

	if (symbol_modules_may_refresh(modules, REFRESH_NANOSECONDS))
		symbol_modules_refresh(modules);
	begin(reader, 0);
	symbol_packet_u64(&reader->packet, &modules->version);
	return reply(reader, -1, wait);
}

static int grant_mapping(struct symbol_reader *reader, symbol_packet_wait_fn *wait)
{
	struct symbol_mapping mapping;
	uint64_t address = 0;
	uint32_t use;
	bool found;

	symbol_packet_u64(&reader->packet, &address);
	if (reader->packet.bad)
		return -EPROTO;
	found = symbol_modules_mapping(reader->modules, address, &mapping);
	begin(reader, found ? 0 : -ENOENT);
	if (found) {
		use = mapping.use;
		symbol_packet_u64(&reader->packet, &mapping.start);
		symbol_packet_u64(&reader->packet, &mapping.end);
		symbol_packet_u32(&reader->packet, &use);
	}
	return reply(reader, -1, wait);
}

static int grant_memory(struct symbol_reader *reader, symbol_packet_wait_fn *wait)
{
	static uint8_t bytes[SYMBOL_MEMORY_MAX]; /* one thread */
	const struct symbol_memory *memory;
	const void *from = bytes;
	uint64_t handle = 0, address = 0;
	size_t length = 0;
	int err;

	symbol_packet_u64(&reader->packet, &handle);
	symbol_packet_u64(&reader->packet, &address);
	symbol_packet_count(&reader->packet, &length, sizeof(bytes));
	if (reader->packet.bad)
		return -EPROTO;
	memory = handle == SYMBOL_MEMORY_OF_SOURCE ? reader->memory
						   : symbol_modules_memory(reader->modules);
	err = symbol_memory_read(memory, address, bytes, length);
	begin(reader, err);
	if (!err)
		symbol_packet_bytes(&reader->packet, &from, &length, sizeof(bytes));
	return reply(reader, -1, wait);
}

/* ---- files ------------------------------------------------------------------------------ */

/* Consumes `fd` and `path`. */
static int give_file(struct symbol_reader *reader, int fd, char *path, symbol_packet_wait_fn *wait)
{
	const char *name = path;
	int err;

	begin(reader, fd < 0 ? fd : 0);
	symbol_packet_text(&reader->packet, &name);
	err = reply(reader, fd < 0 ? -1 : fd, wait);
	if (fd >= 0)
		close(fd);
	free(path);
	return err;
}

static int open_module(struct symbol_reader *reader, uint64_t id, uint32_t attempt, char **path)
{
	const struct symbol_module *module = symbol_modules_by_id(reader->modules, id);

	if (!module || module->bad)
		return -ENOENT;
	if (attempt != SYMBOL_FILE_HELD)
		return symbol_module_file_open(reader->session, module, reader->modules->pid,
					       attempt, path);
	return module->fd < 0 ? -ENOENT : fcntl(module->fd, F_DUPFD_CLOEXEC, 0);
}

static int grant_module_file(struct symbol_reader *reader, symbol_packet_wait_fn *wait)
{
	uint64_t id = 0;
	uint32_t attempt = 0;
	char *path = NULL;
	int fd;

	symbol_packet_u64(&reader->packet, &id);
	symbol_packet_u32(&reader->packet, &attempt);
	/* The rest of the attempts is the reader's own, by paths. */
	if (reader->packet.bad ||
	    (attempt >= SYMBOL_MODULE_FILE_BY_ID && attempt != SYMBOL_FILE_HELD))
		return -EPROTO;
	fd = open_module(reader, id, attempt, &path);
	return give_file(reader, fd, path, wait);
}

/* What is at the path, not opened. No link of /proc leads there: they would lead to descriptors of
 * ours. Only the root directory of the question's process is such a link and allowed. */
static int look_at(const struct symbol_reader *reader, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
	int root = AT_FDCWD, length, fd;
	char prefix[64];

	length = snprintf(prefix, sizeof(prefix), "/proc/%d/root/", (int)reader->modules->pid);
	if (strncmp(path, prefix, (size_t)length) == 0) {
		root = open(prefix, O_PATH | O_CLOEXEC | O_DIRECTORY);
		path += length;
	}
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (root >= 0)
		close(root);
	return fd;
}

/* A crafted file can make the reader ask for any path. */
static int open_path(const struct symbol_reader *reader, const char *path)
{
	int found = look_at(reader, path), fd = -ENOENT;
	struct statfs system;
	char own[OWN_PATH_SIZE];

	if (found < 0)
		return -ENOENT;
	if (fstatfs(found, &system) == 0 && system.f_type != PROC_SUPER_MAGIC &&
	    system.f_type != SYSFS_MAGIC)
		fd = file_open(own_path(own, found));
	close(found);
	return fd;
}

static int grant_path(struct symbol_reader *reader, symbol_packet_wait_fn *wait)
{
	char path[PATH_MAX];

	symbol_packet_array(&reader->packet, path, sizeof(path));
	if (reader->packet.bad)
		return -EPROTO;
	return give_file(reader, open_path(reader, path), NULL, wait);
}

static int grant_present(struct symbol_reader *reader, symbol_packet_wait_fn *wait)
{
	static bool present[SYMBOL_PRESENT_MAX]; /* one thread */
	char name[PATH_MAX], directory[PATH_MAX], path[2 * PATH_MAX];
	size_t count = 0;

	symbol_packet_array(&reader->packet, name, sizeof(name));
	symbol_packet_count(&reader->packet, &count, SYMBOL_PRESENT_MAX);
	for (size_t i = 0; i < count && !reader->packet.bad; i++) {
		symbol_packet_array(&reader->packet, directory, sizeof(directory));
		snprintf(path, sizeof(path), "%s/%s", directory, name);
		present[i] = !reader->packet.bad && access(path, R_OK) == 0;
	}
	if (reader->packet.bad)
		return -EPROTO;
	reader->wishes += (unsigned)count / PRESENT_PER_WISH;
	begin(reader, 0);
	for (size_t i = 0; i < count; i++)
		symbol_packet_bool(&reader->packet, &present[i]);
	return reply(reader, -1, wait);
}

static int grant_download(struct symbol_reader *reader, symbol_packet_wait_fn *wait)
{
	struct symbol_build_id id = {0};
	const void *bytes = NULL;
	size_t length = 0;
	char *path = NULL;
	int fd;

	symbol_packet_bytes(&reader->packet, &bytes, &length, SYMBOL_BUILD_ID_MAX);
	if (reader->packet.bad)
		return -EPROTO;
	id.length = (uint8_t)length;
	memcpy(id.bytes, bytes, length);
	fd = symbol_debuginfod_fetch(reader->session, &id, &path);
	return give_file(reader, fd, path, wait);
}

int symbol_reader_grant(struct symbol_reader *reader, symbol_packet_wait_fn *wait)
{
	switch (reader->packet.kind) {
	case SYMBOL_WISH_MODULES:
		return grant_modules(reader, wait);
	case SYMBOL_WISH_REFRESH:
		return grant_refresh(reader, wait);
	case SYMBOL_WISH_MAPPING:
		return grant_mapping(reader, wait);
	case SYMBOL_WISH_MEMORY:
		return grant_memory(reader, wait);
	case SYMBOL_WISH_MODULE_FILE:
		return grant_module_file(reader, wait);
	case SYMBOL_WISH_PATH:
		return grant_path(reader, wait);
	case SYMBOL_WISH_PRESENT:
		return grant_present(reader, wait);
	case SYMBOL_WISH_DOWNLOAD:
		return grant_download(reader, wait);
	default:
		return -EPROTO;
	}
}
