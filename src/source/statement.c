/* SPDX-License-Identifier: Apache-2.0 */
#include "source/statement.h"

#include <errno.h>

/* A statement longer than this is machine-made: not judged. */
#define STATEMENT_TOKENS_MAX 4096

bool symbol_statement_ends(const struct symbol_token *token)
{
	return token->mark == ';' || token->mark == '{' || token->mark == '}';
}

static size_t first_on_line(const struct symbol_tokens *tokens, unsigned line)
{
	size_t low = 0, high = tokens->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tokens->token[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The last token of the line that starts at or before the column. */
static size_t at_column(const struct symbol_tokens *tokens, size_t first, size_t end,
			unsigned column)
{
	size_t at = first;

	while (at + 1 < end && tokens->token[at + 1].column <= column)
		at++;
	return at;
}

int symbol_statement_find(const struct symbol_tokens *tokens, unsigned line, unsigned column,
			  struct symbol_statement *statement)
{
	size_t first = first_on_line(tokens, line), end = first_on_line(tokens, line + 1);

	if (first == end)
		return -ENOENT;
	if (column) {
		first = at_column(tokens, first, end, column);
		end = first + 1;
		if (symbol_statement_ends(&tokens->token[first]))
			return -ENOENT;
	} else {
		/* A closing mark at the end of the line belongs to what is before it. */
		while (end > first && symbol_statement_ends(&tokens->token[end - 1]))
			end--;
		if (first == end)
			return -ENOENT;
	}
	while (first > 0 && !symbol_statement_ends(&tokens->token[first - 1]))
		first--;
	while (end < tokens->count && !symbol_statement_ends(&tokens->token[end]))
		end++;
	if (end - first > STATEMENT_TOKENS_MAX)
		return -ENOENT;
	statement->first = first;
	statement->last = end;
	return 0;
}
