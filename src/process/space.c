/* SPDX-License-Identifier: Apache-2.0 */
#include "process/space.h"

#include "base/path.h"

#include "base/file.h"
#include "process/entry_point.h"
#include "process/pagemap.h"
#include "symbol/bounds.h"
#include "symbol/function_name.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define CODE_LINES 1024 /* cached pieces of code */
#define CODE_LINE 64	/* bytes; a power of two */
#define REFRESH_NS 200000000u
#define RED_ZONE 128		  /* bytes below its stack pointer that a function may use (ABI) */
#define STACK_NEAR 4096		  /* bytes: the frames of a few calls, on a stack of unknown size */
#define PREPARED_BYTES (4u << 20) /* of a file that is read while its program waits */

struct code_line {
	uint64_t address; /* 0: free */
	uint8_t bytes[CODE_LINE];
};

struct space {
	pid_t pid;
	struct symbol_modules *modules;
	char *program; /* NULL: not known */
	bool is_static;
	uint64_t guarded, guarded_length;
	uint64_t version; /* of the modules, of which `code` is */
	struct code_line code[CODE_LINES];
};

static const struct symbol_mapping *find(struct space *space, uint64_t address)
{
	const struct symbol_mapping *mapping =
		symbol_mappings_find(symbol_modules_mappings(space->modules), address);

	if (mapping || !symbol_modules_may_refresh(space->modules, REFRESH_NS))
		return mapping;
	symbol_modules_refresh(space->modules);
	return symbol_mappings_find(symbol_modules_mappings(space->modules), address);
}

void space_learn(struct space *space, uint64_t address)
{
	if (!symbol_mappings_find(symbol_modules_mappings(space->modules), address) &&
	    symbol_modules_may_refresh(space->modules, 0))
		symbol_modules_refresh(space->modules);
}

void space_renew(struct space *space)
{
	symbol_modules_refresh(space->modules);
}

static char *read_program(pid_t pid)
{
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return NULL;
	path[length] = '\0';
	return strdup(path);
}

int space_open(struct space **space, struct symbol_session *session, pid_t pid)
{
	struct space *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return -ENOMEM;
	made->pid = pid;
	err = symbol_modules_of_process(session, pid, &made->modules);
	if (err) {
		free(made);
		return err;
	}
	made->program = read_program(pid);
	/* Without an interpreter, and not one that was executed by name. */
	made->is_static = process_auxiliary(pid, AT_PHDR) && !process_auxiliary(pid, AT_BASE) &&
			  !path_is_c_library(made->program);
	*space = made;
	return 0;
}

void space_close(struct space *space)
{
	if (!space)
		return;
	symbol_modules_close(space->modules);
	free(space->program);
	free(space);
}

static bool is_libc_path(const char *path)
{
	static const char *const beside[] = {"libtrapline", "[vdso]", "[vsyscall]", NULL};

	return path_is_c_library(path) || text_begins_with_any(path_name(path), beside);
}

static bool is_read_quickly(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= 0 &&
	       (uint64_t)status.st_size <= PREPARED_BYTES;
}

void space_prepare(struct space *space)
{
	const struct symbol_module *module;

	for (size_t i = 0; (module = symbol_modules_at(space->modules, i)); i++)
		if ((symbol_modules_is_main(space->modules, module) ||
		     (module->path && is_libc_path(module->path))) &&
		    is_read_quickly(module->path))
			symbol_function_name(space->modules, module->start);
}

const char *space_program(const struct space *space)
{
	return space->program;
}

struct symbol_modules *space_modules(struct space *space)
{
	return space->modules;
}

void space_guard_pages(struct space *space, uint64_t address, uint64_t length)
{
	space->guarded = address;
	space->guarded_length = length;
}

/* An empty page may be filled after this look, or emptied: what fills them knows who reads. */
static bool would_fill(const struct space *space, uint64_t address, size_t length)
{
	return address < space->guarded + space->guarded_length &&
	       address + length > space->guarded && !pagemap_is_filled(space->pid, address, length);
}

ssize_t space_read(struct space *space, uint64_t address, void *to, size_t length)
{
	struct iovec local = {to, length};
	struct iovec remote = {(void *)address, length};
	ssize_t count;

	if (would_fill(space, address, length))
		return -EFAULT;
	count = process_vm_readv(space->pid, &local, 1, &remote, 1, 0);
	return count < 0 ? -errno : count;
}

unsigned space_gather(struct space *space, const struct space_part *part, unsigned count)
{
	struct iovec local[SPACE_PARTS] = {0}, remote[SPACE_PARTS] = {0};
	ssize_t left;
	unsigned read = 0;

	if (count > SPACE_PARTS)
		count = SPACE_PARTS;
	for (unsigned i = 0; i < count; i++) {
		if (would_fill(space, part[i].address, part[i].length))
			count = i;
		local[i] = (struct iovec){part[i].to, part[i].length};
		remote[i] = (struct iovec){(void *)part[i].address, part[i].length};
	}
	left = process_vm_readv(space->pid, local, count, remote, count, 0);
	while (read < count && left >= (ssize_t)part[read].length)
		left -= (ssize_t)part[read++].length;
	return read;
}

/* Code of a process that has ended, from its file. Only where the process could not change it. */
static ssize_t read_file(struct space *space, uint64_t address, void *to, size_t length)
{
	const struct symbol_mapping *mapping =
		symbol_mappings_find(symbol_modules_mappings(space->modules), address);
	ssize_t count;
	int fd;

	if (!mapping || !mapping->executable || mapping->writable || mapping->deleted ||
	    mapping->use != SYMBOL_MAPPING_FILE || address + length > mapping->end)
		return -EFAULT;
	fd = file_open(mapping->path);
	if (fd < 0)
		return fd;
	count = pread(fd, to, length, (off_t)(address - mapping->start + mapping->offset));
	close(fd);
	return count;
}

/* What was mapped anew may be other code at old addresses. */
static void forget_old_code(struct space *space)
{
	uint64_t version = symbol_modules_version(space->modules);

	if (version != space->version)
		memset(space->code, 0, sizeof(space->code));
	space->version = version;
}

/* One line of code, read once: code seldom changes, and then at places that are mapped anew. */
static const struct code_line *code_line(struct space *space, uint64_t address)
{
	struct code_line *line = &space->code[address / CODE_LINE % CODE_LINES];
	ssize_t count;

	forget_old_code(space);
	if (line->address == address)
		return line;
	line->address = 0;
	count = space_read(space, address, line->bytes, CODE_LINE);
	if (count == -ESRCH)
		count = read_file(space, address, line->bytes, CODE_LINE);
	if (count != CODE_LINE)
		return NULL;
	line->address = address;
	return line;
}

size_t space_code(struct space *space, uint64_t pc, uint8_t *to, size_t length)
{
	size_t done = 0;

	while (done < length) {
		uint64_t at = pc + done;
		const struct code_line *line = code_line(space, at & ~(uint64_t)(CODE_LINE - 1));
		size_t offset = at % CODE_LINE, part = CODE_LINE - offset;

		if (!line)
			break;
		if (part > length - done)
			part = length - done;
		memcpy(to + done, line->bytes + offset, part);
		done += part;
	}
	return done;
}

bool space_writable(struct space *space, uint64_t address)
{
	const struct symbol_mapping *mapping = find(space, address);

	return mapping && mapping->writable;
}

bool space_mapping(struct space *space, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct symbol_mapping *mapping = find(space, address);

	if (!mapping)
		return false;
	*start = mapping->start;
	*end = mapping->end;
	return true;
}

bool space_is_file(struct space *space, uint64_t address)
{
	const struct symbol_mapping *mapping = find(space, address);

	return mapping && mapping->path[0] == '/';
}

bool space_guarded(struct space *space, uint64_t address)
{
	const struct symbol_mapping *mapping = find(space, address), *below;

	if (!mapping || mapping == symbol_modules_mappings(space->modules)->mapping)
		return false;
	below = mapping - 1;
	return below->end == mapping->start && !below->readable && !below->writable;
}

bool space_is_own_stack(struct space *space, uint64_t pointer, uint64_t address, uint64_t most)
{
	const struct symbol_mapping *mapping;

	if (address < pointer - RED_ZONE || address >= pointer + most)
		return false;
	mapping = find(space, pointer);
	if (!mapping)
		return true;
	if (address >= mapping->end)
		return false;
	return address < pointer + STACK_NEAR || mapping->use == SYMBOL_MAPPING_STACK ||
	       space_guarded(space, pointer);
}

int space_function(struct space *space, uint64_t pc, uint64_t *start, uint64_t *end)
{
	return symbol_bounds_find(space->modules, pc, start, end);
}

int space_whole_function(struct space *space, uint64_t pc, uint64_t *start, uint64_t *end)
{
	return symbol_bounds_whole(space->modules, pc, start, end);
}

const char *space_function_name(struct space *space, uint64_t pc)
{
	return symbol_function_name(space->modules, pc);
}

const char *space_module(struct space *space, uint64_t pc)
{
	const struct symbol_mapping *mapping = find(space, pc);

	return mapping && mapping->executable && mapping->path && mapping->path[0] ? mapping->path
										   : NULL;
}

bool space_is_libc(struct space *space, uint64_t pc)
{
	const char *path = space_module(space, pc);

	return path && is_libc_path(path);
}

bool space_is_static(const struct space *space)
{
	return space->is_static;
}

bool space_random_code(struct space *space, uint64_t random, uint64_t *start, uint64_t *end)
{
	const struct symbol_mappings *mappings = symbol_modules_mappings(space->modules);
	const struct symbol_mapping *chosen = NULL;
	unsigned seen = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct symbol_mapping *mapping = &mappings->mapping[i];

		if (!mapping->executable || !mapping->path || mapping->path[0] != '/' ||
		    is_libc_path(mapping->path))
			continue;
		seen++;
		/* The program's own is mapped first. */
		if (!chosen || (seen > 1 && (random >> seen & 1)))
			chosen = mapping;
	}
	if (!chosen)
		return false;
	*start = chosen->start;
	*end = chosen->end;
	return true;
}

static int read_for_insn(void *context, uint64_t address, void *to, size_t length)
{
	const struct symbol_mapping *mapping = find(context, address);

	if (mapping && mapping->executable && !mapping->writable)
		return space_code(context, address, to, length) == length ? 0 : -EFAULT;
	ssize_t count = space_read(context, address, to, length);

	if (count == -ESRCH)
		count = read_file(context, address, to, length);
	return count == (ssize_t)length ? 0 : -EFAULT;
}

static int bounds_for_insn(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
	return space_function(context, pc, start, end);
}

struct insn_memory space_insn_memory(struct space *space)
{
	return (struct insn_memory){read_for_insn, bounds_for_insn, space};
}
