/* SPDX-License-Identifier: Apache-2.0 */
/* One line of /proc/PID/maps. */
#ifndef MEMORY_MAPPING_H
#define MEMORY_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_mapping_use {
	SYMBOL_MAPPING_FILE,
	SYMBOL_MAPPING_ANONYMOUS,
	SYMBOL_MAPPING_BREAK,  /* [heap] */
	SYMBOL_MAPPING_STACK,  /* [stack], of the first thread */
	SYMBOL_MAPPING_KERNEL, /* [vdso], [vvar] and the like */
};

struct symbol_mapping {
	uint64_t start, end, offset, inode;
	unsigned device_major, device_minor;
	bool readable, writable, executable, deleted;
	bool shared; /* stores reach the file, or other processes */
	enum symbol_mapping_use use;
	char *path; /* without " (deleted)"; the empty string for anonymous memory */
};

struct symbol_mappings {
	struct symbol_mapping *mapping; /* sorted by address, as the kernel writes them */
	size_t count;
};

/* 0 or -errno; -ESRCH when the process has no memory any more. */
int symbol_mappings_read(int pid, struct symbol_mappings *mappings);
const struct symbol_mapping *symbol_mappings_find(const struct symbol_mappings *mappings,
						  uint64_t address);
void symbol_mappings_free(struct symbol_mappings *mappings);

#endif
