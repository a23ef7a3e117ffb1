/* SPDX-License-Identifier: Apache-2.0 */
/* Rust linkage names. The output must end within its room, whatever that is. */
#include "mangling/demangle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = size ? data[0] + 1u : 1;
	char *name = malloc(size + 3), *text = malloc(room);

	if (name && text) {
		memcpy(name, "_R", 2);
		memcpy(name + 2, data, size);
		name[size + 2] = 0;
		if (symbol_demangle_rust(name, text, room) == 0 && strlen(text) >= room)
			abort();
		if (symbol_demangle_rust(name + 2, text, room) == 0 && strlen(text) >= room)
			abort();
	}
	free(name);
	free(text);
	return 0;
}
