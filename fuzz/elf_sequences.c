/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of restartable sequences and relocations: the first byte says where the one ends. */
#include "elf/image.h"
#include "elf/sequences.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_image image = {.segment_count = 1,
				     .segment = {{.address = 0x1000,
						  .file_size = 0x10000,
						  .memory_size = 0x10000,
						  .flags = 5}}};
	size_t cut = size ? data[0] % size : 0;
	struct symbol_section descriptors = {data, cut, 0x1800};
	struct symbol_section relocations = {data + cut, size - cut, 0x1800};
	struct symbol_sequences found;

	if (symbol_sequences_parse(&image, &descriptors, &relocations, &found) == 0) {
		for (size_t i = 0; i < found.count; i++)
			if (found.range[i].low >= found.range[i].high ||
			    (i > 0 && found.range[i].low < found.range[i - 1].high))
				abort();
		free(found.range);
	}
	return 0;
}
