/* SPDX-License-Identifier: Apache-2.0 */
#include "libc/c_result.h"

#include <string.h>

static bool byte_at(const struct c_call *call, uint64_t address, uint8_t *byte)
{
	return symbol_memory_read(call->memory, address, byte, 1) == 0;
}

/* The first `sought`, or the string's end. */
static bool search(const struct c_call *call, uint8_t sought, uint64_t *at)
{
	for (uint64_t i = 0; i < C_RESULT_MOST; i++) {
		uint8_t byte;

		if (!byte_at(call, call->argument[0] + i, &byte))
			return false;
		if (byte && byte != sought)
			continue;
		*at = i;
		return true;
	}
	return false;
}

/* The first two bytes that differ, as numbers subtracted: what glibc's own variants return. */
static bool compare(const struct c_call *call, uint64_t count, bool strings, uint64_t *value)
{
	*value = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint8_t one, other;

		if (i == C_RESULT_MOST || !byte_at(call, call->argument[0] + i, &one) ||
		    !byte_at(call, call->argument[1] + i, &other))
			return false;
		if (one != other) {
			*value = (uint32_t)(one - other);
			return true;
		}
		if (strings && !one)
			return true;
	}
	return true;
}

bool c_result(const struct c_call *call, uint64_t *value)
{
	const char *name = call->function->name;
	bool one = call->known & 1, two = one && (call->known & 2),
	     three = two && (call->known & 4);
	bool found;

	if (strcmp(name, "strlen") == 0)
		return one && search(call, 0, value);
	if (strcmp(name, "strchrnul") == 0) {
		found = two && search(call, (uint8_t)call->argument[1], value);
		if (found)
			*value += call->argument[0];
		return found;
	}
	if (strcmp(name, "strcmp") == 0)
		return two && compare(call, UINT64_MAX, true, value);
	if (strcmp(name, "strncmp") == 0)
		return three && compare(call, call->argument[2], true, value);
	/* Of bytes that differ its variants tell but which are more. */
	if (strcmp(name, "memcmp") == 0)
		return three && compare(call, call->argument[2], false, value) && !*value;
	return false;
}
