/* SPDX-License-Identifier: Apache-2.0 */
#include "session/strings.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* memory that a string takes beside its text: slots and the allocator's header */
#define STRING_COST (4 * sizeof(char *))

static char **find_slot(char **slot, size_t slots, const char *text)
{
	size_t at = text_hash(text, strlen(text)) & (slots - 1);

	while (slot[at] && strcmp(slot[at], text) != 0)
		at = (at + 1) & (slots - 1);
	return &slot[at];
}

static bool grow(struct symbol_strings *strings)
{
	size_t slots = strings->slots ? strings->slots * 2 : 256;
	char **slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return false;
	for (size_t i = 0; i < strings->slots; i++)
		if (strings->slot[i])
			*find_slot(slot, slots, strings->slot[i]) = strings->slot[i];
	free(strings->slot);
	strings->slot = slot;
	strings->slots = slots;
	return true;
}

static const char *keep_new(struct symbol_strings *strings, char **slot, const char *text)
{
	size_t bytes = strlen(text) + 1 + STRING_COST;

	if (bytes > SYMBOL_STRINGS_BYTES - strings->bytes) {
		strings->left_out++;
		return "(name left out)";
	}
	*slot = strdup(text);
	if (!*slot)
		return NULL;
	strings->used++;
	strings->bytes += bytes;
	return *slot;
}

const char *symbol_strings_keep(struct symbol_strings *strings, const char *text)
{
	char **slot;

	if (!text)
		return NULL;
	if (strings->used * 2 >= strings->slots && !grow(strings))
		return NULL;
	slot = find_slot(strings->slot, strings->slots, text);
	return *slot ? *slot : keep_new(strings, slot, text);
}

void symbol_strings_free(struct symbol_strings *strings)
{
	for (size_t i = 0; i < strings->slots; i++)
		free(strings->slot[i]);
	free(strings->slot);
	memset(strings, 0, sizeof(*strings));
}
