/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation contexts with evidence of an error, kept in a file between runs and machines: by the
 * build-id of the file that the allocating call is in and its return address there, with the words
 * "after", "before" and "freed" for what was misused of such a block. One a line below a first line
 * that says what the file is. Anybody's file may come in.
 */
#ifndef HEAP_CONTEXTS_H
#define HEAP_CONTEXTS_H

#include "session/build_id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONTEXTS_MAX 1024u
#define CONTEXTS_ERROR 128

/* What was misused; none is known of calls of free() that were wrong. */
enum contexts_evidence {
	CONTEXTS_AFTER = 1,  /* bytes behind the block */
	CONTEXTS_BEFORE = 2, /* bytes before it */
	CONTEXTS_FREED = 4,  /* the freed block */
	CONTEXTS_EVIDENCE = 7,
};

struct contexts {
	struct context {
		char build_id[SYMBOL_BUILD_ID_TEXT];
		uint64_t offset;   /* the file's own address */
		unsigned evidence; /* of enum contexts_evidence */
	} context[CONTEXTS_MAX];
	unsigned count;
};

/* False: there is no room; what is there already is no error, and has both evidence then. */
bool contexts_add(struct contexts *contexts, const char *build_id, uint64_t offset,
		  unsigned evidence);
/* NULL: there is none. */
struct context *contexts_find(struct contexts *contexts, const char *build_id, uint64_t offset);
/* Adds what the stream has; an empty one has nothing. 0, or -EILSEQ or -EIO with what is wrong in
 * `error`. */
int contexts_read(struct contexts *contexts, FILE *stream, char error[CONTEXTS_ERROR]);
/*
 * Adds what the file has by now to the set, and puts both in its place at once, with mode 0600.
 * 0; -EAGAIN: another run is at it; -EILSEQ: it is no such file (any more), and stays as it is; or
 * -errno.
 */
int contexts_save(struct contexts *contexts, const char *path, char error[CONTEXTS_ERROR]);
/* The same without writing. A file that is not there has nothing. */
int contexts_load(struct contexts *contexts, const char *path, char error[CONTEXTS_ERROR]);

#endif
