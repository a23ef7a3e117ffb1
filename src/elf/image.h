/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program headers of an ELF file, read from the file or from memory it is mapped in. Bytes from
 * outside: every offset and count is checked, and nothing is trusted to be ordered.
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include "memory/memory.h"
#include "session/build_id.h"

#define SYMBOL_IMAGE_SEGMENTS 32

struct symbol_segment {
	uint64_t address; /* as linked */
	uint64_t offset;  /* in the file */
	uint64_t file_size, memory_size, alignment;
	uint32_t flags; /* PF_R, PF_W, PF_X */
};

struct symbol_image {
	uint16_t type; /* ET_EXEC, ET_DYN */
	unsigned segment_count;
	struct symbol_segment segment[SYMBOL_IMAGE_SEGMENTS]; /* PT_LOAD */
	bool has_tls;
	struct symbol_segment tls;
	struct symbol_build_id build_id;
};

/* 0, or -ENOEXEC if it is not a 64-bit little-endian x86-64 program or library, or -errno. */
int symbol_image_read_file(int fd, struct symbol_image *image);
/* `base`: where the file's first byte is mapped. */
int symbol_image_read_memory(const struct symbol_memory *memory, uint64_t base,
			     struct symbol_image *image);

/* First and one past the last linked address of the loaded segments; both 0 without segments. */
void symbol_image_range(const struct symbol_image *image, uint64_t *low, uint64_t *high);
/* Linked address of a file offset mapped from `offset`. 0 or -ENOENT. `executable` prefers code. */
int symbol_image_address(const struct symbol_image *image, uint64_t offset, bool executable,
			 uint64_t *address);
bool symbol_image_is_code(const struct symbol_image *image, uint64_t address);

#endif
