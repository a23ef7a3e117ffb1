/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/unseen.h"

#include "memory/mapping.h"
#include "process/thread_status.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes that a transfer past the page cache has at least: a sector. What is smaller holds none. */
#define TRANSFER 512u
#define THREADS_MOST 256 /* of a process, that are asked for what they block: some ms */

static uint64_t read_of(pid_t pid)
{
	char path[64], line[128];
	unsigned long long bytes = UINT64_MAX;
	FILE *io;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	io = fopen(path, "re");
	while (io && fgets(line, sizeof(line), io))
		if (sscanf(line, "read_bytes: %llu", &bytes) == 1)
			break;
	if (io)
		fclose(io);
	return bytes;
}

uint64_t unseen_read(const struct origin *origin)
{
	return origin->length < TRANSFER ? UINT64_MAX : read_of(origin->pid);
}

/* Of all reads from storage those past the page cache cannot be told from others. */
static bool has_read(const struct origin *origin)
{
	return origin->length >= TRANSFER &&
	       (origin->read_before == UINT64_MAX || read_of(origin->pid) != origin->read_before);
}

static bool is_ring(int folder, const char *name)
{
	char target[64];
	ssize_t length = readlinkat(folder, name, target, sizeof(target) - 1);

	target[length < 0 ? 0 : length] = 0;
	return strstr(target, "[io_uring]");
}

/* One that the process brings its own memory for (IORING_SETUP_NO_MMAP), or has unmapped, is a
 * descriptor only. `*known`: they could be looked at. */
static bool has_open_ring(pid_t pid, bool *known)
{
	struct dirent *entry;
	char path[64];
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	*known = folder;
	while (folder && !found && (entry = readdir(folder)))
		found = is_ring(dirfd(folder), entry->d_name);
	if (folder)
		closedir(folder);
	return found;
}

/* A ring stays mapped when its descriptor is closed; one that is gone by now, or has neither, is
 * not known. */
static bool has_ring(const struct symbol_mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (strstr(mappings->mapping[i].path, "[io_uring]"))
			return true;
	return false;
}

static const char *ring_of(pid_t pid, const struct symbol_mappings *mappings)
{
	bool known = true;

	if (has_ring(mappings) || has_open_ring(pid, &known))
		return "the process has an io_uring, whose writes no watch sees";
	return known ? NULL
		     : "the process's descriptors cannot be read, among which may be an io_uring";
}

static bool is_of_file(const struct symbol_mappings *mappings, uint64_t address)
{
	const struct symbol_mapping *mapping = symbol_mappings_find(mappings, address);

	return !mapping || mapping->shared || mapping->use == SYMBOL_MAPPING_FILE;
}

const char *unseen_writer(const struct origin *origin, uint64_t address)
{
	struct symbol_mappings mappings;
	const char *writer = NULL;

	if (has_read(origin))
		return "the process has read from storage since, perhaps past the page cache "
		       "(O_DIRECT), which no watch sees";
	if (symbol_mappings_read(origin->pid, &mappings))
		return "the process's mappings cannot be read";
	if (is_of_file(&mappings, address))
		writer = "the memory is shared, or a file was mapped in its place";
	else
		writer = ring_of(origin->pid, &mappings);
	symbol_mappings_free(&mappings);
	return writer;
}

/* A thread that has ended blocks nothing. */
static bool blocks_sigtrap(pid_t pid, pid_t tid)
{
	unsigned long long blocked = 0;
	char line[128];

	return thread_status_line(pid, tid, "SigBlk:", line, sizeof(line)) &&
	       sscanf(line, "SigBlk: %llx", &blocked) == 1 && blocked >> (SIGTRAP - 1) & 1;
}

bool unseen_blocks(pid_t pid, pid_t held)
{
	char path[64];
	struct dirent *entry;
	unsigned threads = 0;
	bool blocks = false;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	list = opendir(path);
	while (list && !blocks && (entry = readdir(list))) {
		long tid = strtol(entry->d_name, NULL, 10);

		blocks = ++threads > THREADS_MOST ||
			 (tid > 0 && tid != held && blocks_sigtrap(pid, (pid_t)tid));
	}
	if (list)
		closedir(list);
	return blocks || !list;
}
