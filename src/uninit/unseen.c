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

/* The least bytes of a transfer past the page cache: a sector. A smaller block cannot be the target
 * of one. */
#define TRANSFER 512u
#define THREADS_MOST 256 /* of a process, that are asked for what they block: some ms */

/* File systems that transfer past the page cache without counting it as storage (read_bytes):
 * proc(5), fs/9p, fs/fuse and fs/ceph of Linux 6.1. */
static const char *const uncounted[] = {"9p ", "ceph ", "fuse ", "fuse.", "fuseblk ", "virtiofs "};

static void read_counts(pid_t pid, uint64_t *all, uint64_t *storage)
{
	char path[64], line[128];
	unsigned long long bytes;
	FILE *io;

	*all = *storage = UINT64_MAX;
	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	io = fopen(path, "re");
	while (io && fgets(line, sizeof(line), io))
		if (sscanf(line, "rchar: %llu", &bytes) == 1)
			*all = bytes;
		else if (sscanf(line, "read_bytes: %llu", &bytes) == 1)
			*storage = bytes;
	if (io)
		fclose(io);
}

void unseen_note_reads(struct origin *origin)
{
	origin->received_before = origin->read_before = UINT64_MAX;
	if (origin->length >= TRANSFER)
		read_counts(origin->pid, &origin->received_before, &origin->read_before);
}

/* A line of mountinfo names the type behind the only field that is a hyphen. */
static bool is_uncounted(const char *line)
{
	const char *type = strstr(line, " - ");

	for (size_t i = 0; type && i < sizeof(uncounted) / sizeof(uncounted[0]); i++)
		if (strncmp(type + 3, uncounted[i], strlen(uncounted[i])) == 0)
			return true;
	return false;
}

/* True also where that is not known. */
static bool has_uncounted(pid_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *mounts;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	mounts = fopen(path, "re");
	if (!mounts)
		return true;
	while (!found && getline(&line, &room, mounts) >= 0)
		found = is_uncounted(line);
	free(line);
	fclose(mounts);
	return found;
}

/* Has the process read since the block's birth? Reads past the page cache cannot be told from other
 * reads of storage; on file systems that do not count them as storage, not even from reads of a
 * pipe. */
static bool has_read(const struct origin *origin)
{
	uint64_t all, storage;

	if (origin->length < TRANSFER)
		return false;
	read_counts(origin->pid, &all, &storage);
	if (origin->read_before == UINT64_MAX || storage != origin->read_before)
		return true;
	return (origin->received_before == UINT64_MAX || all != origin->received_before) &&
	       has_uncounted(origin->pid);
}

static bool is_ring(int folder, const char *name)
{
	char target[64];
	ssize_t length = readlinkat(folder, name, target, sizeof(target) - 1);

	target[length < 0 ? 0 : length] = 0;
	return strstr(target, "[io_uring]");
}

/* Does a descriptor of the process lead to an io_uring? One that uses the process's own memory
 * (IORING_SETUP_NO_MMAP), or was unmapped, shows in no mapping. `*known`: the descriptors could be
 * read. */
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

/* Does the process have an io_uring? A ring stays mapped when its descriptor is closed. Not found:
 * one that is gone by now, and one that has neither a mapping nor a descriptor. */
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
