/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: text of source files, of C, C++ and Rust: files found by the path that was recorded at
 * the build (source/source_index.h), cut into tokens (source/token.h), statements
 * (source/statement.h) and OpenMP's and OpenACC's directives (source/pragma.h).
 *
 * It knows nothing of programs or debug information. Text is hostile: tokens never leave it, and
 * what is not understood is said to be so. Everything read belongs to the session. Runs in the
 * reader of files, or where there is none in the process whose session it is.
 *
 * This file: source files, read whole and kept: lines for people, and text to judge accesses by.
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "session/session.h"
#include "source/source_index.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct symbol_tokens;

struct symbol_source {
	struct symbol_source *next;
	const char *path; /* as asked */
	char *opened;	  /* where it was found; NULL: it could not be read */
	char *text;	  /* NUL-terminated; NULL: could not be read */
	size_t length;
	size_t *line; /* offset of each line's first byte */
	size_t line_count;
	time_t modified;
	bool given;		      /* found below the session's source directories */
	struct symbol_tokens *tokens; /* made at first use */
};

/* The file, found at `path` or below the session's source directories. Never NULL except out of
 * memory: an unreadable file has text NULL. Owned by the session. The first hint counts. */
struct symbol_source *symbol_source_find(struct symbol_session *session, const char *path,
					 const struct symbol_source_hint *hint);
/* Line `number` (from 1) without its end, in `text` cut to fit. 0, or -ENOENT. */
int symbol_source_line(struct symbol_session *session, const char *path, unsigned number,
		       char *text, size_t size);
void symbol_sources_free(struct symbol_session *session);

#endif
