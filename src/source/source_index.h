/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files below the session's source directories, by name. A recorded path seldom leads there as
 * it is: "./stat.c", "../x/stat.c" and "/build/server-1.2/x/stat.c" are all told by their ends.
 */
#ifndef SOURCE_SOURCE_INDEX_H
#define SOURCE_SOURCE_INDEX_H

#include <stdbool.h>
#include <stddef.h>

struct symbol_source_index;

/* What the file must have, as far as that is known. */
struct symbol_source_hint {
	unsigned line;		/* at least so many; 0: unknown */
	const char *function;	/* a name that stands about line `function_line`; or NULL */
	unsigned function_line; /* 0: unknown */
};

bool symbol_source_fits(const char *text, size_t length, const struct symbol_source_hint *hint);

/* `directories`: NULL-terminated. Reads them, which can take a while. NULL when out of memory. */
struct symbol_source_index *symbol_source_index_read(char *const *directories);
void symbol_source_index_free(struct symbol_source_index *index);

/*
 * The file whose path ends like `path` in the most components, and that fits the hint. NULL: none;
 * *ambiguous then tells whether that is because several do which are not the same.
 */
const char *symbol_source_index_find(const struct symbol_source_index *index, const char *path,
				     const struct symbol_source_hint *hint, bool *ambiguous);

#endif
