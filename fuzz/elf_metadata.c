/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of -fexperimental-sanitize-metadata: the first byte says where the one ends. */
#include "elf/image.h"
#include "elf/metadata.h"

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
	struct symbol_section atomics = {data, cut, 0x1800};
	struct symbol_section covered = {data + cut, size - cut, 0x1800};
	struct symbol_metadata metadata;

	if (symbol_metadata_parse(&image, &atomics, &covered, &metadata) == 0) {
		for (size_t i = 0; i < metadata.covered_count; i++)
			if (metadata.covered[i].low >= metadata.covered[i].high)
				abort();
		free(metadata.atomic);
		free(metadata.covered);
	}
	return 0;
}
