/* SPDX-License-Identifier: Apache-2.0 */
/* The input as two sections of a small image: its first byte says where the one ends. */
#ifndef FUZZ_TWO_SECTIONS_H
#define FUZZ_TWO_SECTIONS_H

#include "elf/image.h"

struct two_sections {
	struct symbol_image image;
	struct symbol_section first, second;
};

static inline struct two_sections two_sections(const uint8_t *data, size_t size)
{
	size_t cut = size ? data[0] % size : 0;

	return (struct two_sections){.image = {.segment_count = 1,
					       .segment = {{.address = 0x1000,
							    .file_size = 0x10000,
							    .memory_size = 0x10000,
							    .flags = 5}}},
				     .first = {data, cut, 0x1800},
				     .second = {data + cut, size - cut, 0x1800}};
}

#endif
