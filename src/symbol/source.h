/* SPDX-License-Identifier: Apache-2.0 */
/* Source files, read whole and kept: lines for people, and text to judge accesses by. */
#ifndef SYMBOL_SOURCE_H
#define SYMBOL_SOURCE_H

#include "session/session.h"
#include "symbol/source_index.h"

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
