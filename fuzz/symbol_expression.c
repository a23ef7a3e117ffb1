/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions, as typed. What is read must be consistent, and an error must be said. */
#include "symbol/expression.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_expression expression;
	char error[SYMBOL_ERROR_MAX];
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (symbol_expression_parse(text, &expression, error) != 0) {
		if (!error[0])
			abort();
	} else {
		bool named = expression.kind == SYMBOL_EXPRESSION_NAME ||
			     expression.kind == SYMBOL_EXPRESSION_HEAP;

		if (named != (expression.name != NULL) ||
		    expression.step_count > SYMBOL_EXPRESSION_STEPS)
			abort();
	}
	free(text);
	return 0;
}
