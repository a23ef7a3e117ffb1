/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator of a process that no library of ours is in: its functions, found by their symbols,
 * and whether it made an access itself. Only glibc's malloc() is known, in libc.so.6 or linked into
 * a static program, since of other allocators it is not known what a chunk looks like (chunk.h).
 */
#ifndef HEAP_ALLOCATOR_H
#define HEAP_ALLOCATOR_H

#include <trapline/tool.h>

struct heap;

enum allocator_function {
	ALLOCATOR_MALLOC,
	ALLOCATOR_CALLOC,
	ALLOCATOR_REALLOC,
	ALLOCATOR_FREE,
	ALLOCATOR_OTHERS,
	ALLOCATOR_LEAVES = ALLOCATOR_OTHERS + 12, /* the C library's own end */
	ALLOCATOR_FUNCTIONS
};

struct allocator {
	uint64_t entry[ALLOCATOR_FUNCTIONS]; /* 0: it has none */
	uint64_t lowest, highest;	     /* bounds of the entries that lie together */
	const char *module;
};

/* False: it has none that is known; the user was told why. */
bool allocator_find(const struct heap *heap, pid_t pid, struct allocator *allocator);

enum author {
	AUTHOR_PROGRAM,
	AUTHOR_ALLOCATOR,
	AUTHOR_UNCLEAR, /* one of the two */
};

struct authorship {
	enum author author;
	/* The function by which the allocator was called; ALLOCATOR_FUNCTIONS: not known, or none.
	 */
	enum allocator_function through;
	bool direct; /* that function made the access itself */
};

/* Who made an access, by its stack. */
struct authorship allocator_author(const struct heap *heap, const struct allocator *allocator,
				   pid_t pid, const struct tl_frame_place *frames, int count);

#endif
