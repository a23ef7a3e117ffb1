/* SPDX-License-Identifier: Apache-2.0 */
/* Anybody's file of heap contexts; what is taken from it has names that fit. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap/contexts.h"

static void check(const struct contexts *contexts)
{
	if (contexts->count > CONTEXTS_MAX)
		abort();
	for (unsigned i = 0; i < contexts->count; i++)
		if (strnlen(contexts->context[i].build_id, SYMBOL_BUILD_ID_TEXT) ==
			    SYMBOL_BUILD_ID_TEXT ||
		    contexts->context[i].evidence > CONTEXTS_EVIDENCE)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct contexts contexts;
	char error[CONTEXTS_ERROR];
	FILE *stream = size ? fmemopen((void *)data, size, "r") : NULL;

	if (!stream)
		return 0;
	contexts.count = 0;
	contexts_read(&contexts, stream, error);
	check(&contexts);
	fclose(stream);
	return 0;
}
