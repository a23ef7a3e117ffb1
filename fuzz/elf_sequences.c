/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of restartable sequences and relocations: the first byte says where the one ends. */
#include "elf/sequences.h"
#include "two_sections.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct two_sections given = two_sections(data, size);
	struct symbol_sequences found;

	if (symbol_sequences_parse(&given.image, &given.first, &given.second, &found) == 0) {
		for (size_t i = 0; i < found.count; i++)
			if (found.range[i].low >= found.range[i].high ||
			    (i > 0 && found.range[i].low < found.range[i - 1].high))
				abort();
		free(found.range);
	}
	return 0;
}
