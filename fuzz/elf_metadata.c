/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of -fexperimental-sanitize-metadata: the first byte says where the one ends. */
#include "elf/metadata.h"
#include "two_sections.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct two_sections given = two_sections(data, size);
	struct symbol_metadata metadata;

	if (symbol_metadata_parse(&given.image, &given.first, &given.second, &metadata) == 0) {
		for (size_t i = 0; i < metadata.covered_count; i++)
			if (metadata.covered[i].low >= metadata.covered[i].high)
				abort();
		free(metadata.atomic);
		free(metadata.covered);
	}
	return 0;
}
