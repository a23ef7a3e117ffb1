/* SPDX-License-Identifier: Apache-2.0 */
/* Source text: every token lies in it, in order, and each statement found holds its line. */
#include "source/statement.h"
#include "source/token.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_tokens *tokens = symbol_tokens_read((const char *)data, size);
	struct symbol_statement statement;

	for (size_t i = 0; tokens && i < tokens->count; i++) {
		const struct symbol_token *token = &tokens->token[i];

		if (token->length == 0 || token->start + (uint64_t)token->length > size)
			abort();
		if (i < 64 &&
		    symbol_statement_find(tokens, token->line, token->column, &statement) == 0 &&
		    (statement.first > i || statement.last <= i))
			abort();
	}
	symbol_tokens_free(tokens);
	return 0;
}
