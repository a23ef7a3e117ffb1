/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of another process, read in lines of 64 bytes, each once: a walk over instructions reads
 * few places many times. Lines that fall together in the table take each other's place. What is
 * remembered is as old as the last lines_forget(). Not for several threads at once.
 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_BYTES 64u

struct line {
	uint64_t address; /* 0: nothing was read */
	bool there;
	uint8_t bytes[LINES_BYTES];
};

/* Reads LINES_BYTES bytes; false: not all can be read. */
typedef bool lines_read_fn(void *context, uint64_t address, uint8_t *bytes);

struct lines {
	struct line *line;
	size_t count;
	lines_read_fn *read;
	void *context;
};

void lines_forget(struct lines *lines);
/* 0, or -EFAULT: some of it cannot be read. */
int lines_read(struct lines *lines, uint64_t address, void *to, size_t length);
/* Of an instruction that may lie at the end of what can be read: `max` bytes, at most LINES_BYTES,
 * or those of its line, or none. How many. */
size_t lines_read_code(struct lines *lines, uint64_t pc, uint8_t *bytes, size_t max);

#endif
