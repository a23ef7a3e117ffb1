/* SPDX-License-Identifier: Apache-2.0 */
/* The statement of a source file that holds a line, or a column of it. */
#ifndef SOURCE_STATEMENT_H
#define SOURCE_STATEMENT_H

#include "source/token.h"

#include <stdbool.h>

struct symbol_statement {
	size_t first, last; /* tokens [first, last) */
};

/* `column` 0: unknown; then every statement that touches the line is included. 0 or -ENOENT. */
int symbol_statement_find(const struct symbol_tokens *tokens, unsigned line, unsigned column,
			  struct symbol_statement *statement);
/* Semicolons and braces. */
bool symbol_statement_ends(const struct symbol_token *token);

#endif
