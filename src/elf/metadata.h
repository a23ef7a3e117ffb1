/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clang's -fexperimental-sanitize-metadata=atomics (Clang 16 and later): which functions were
 * compiled with it, and which of their instructions are atomic operations. It settles the question
 * exactly.
 *
 * Section sanmd_atomics: a sequence of signed 32-bit offsets, each from its own address to an
 * atomic instruction. Section sanmd_covered: for each function a signed 32-bit offset from its own
 * address to the function's first byte, its size in bytes and a mask of features (bit 0: atomics,
 * bit 1: use-after-return, bit 2: the size of stack arguments follows); size, mask and what follows
 * are 32 bits each in version 1 (Clang 16) and ULEB128 in version 2 (Clang 17 and later). The
 * version is passed to a constructor in code and is not in the section: whichever reads as
 * functions within the code to its very end is taken. The large code model writes 64-bit offsets;
 * they are not read.
 */
#ifndef ELF_METADATA_H
#define ELF_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_object;
struct symbol_image;

struct symbol_covered {
	uint64_t low, high;
};

struct symbol_metadata {
	uint64_t *atomic; /* sorted */
	size_t atomic_count;
	struct symbol_covered *covered; /* with the atomics feature; sorted */
	size_t covered_count;
};

struct symbol_section {
	const uint8_t *bytes;
	size_t length;
	uint64_t address;
};

enum symbol_metadata_verdict {
	SYMBOL_METADATA_ABSENT, /* the function was not compiled with it */
	SYMBOL_METADATA_ATOMIC,
	SYMBOL_METADATA_PLAIN,
};

/* A section of the program file; of no bytes where there is none. */
struct symbol_section symbol_section_find(struct symbol_object *object, const char *name);
/* Parse both sections; 0, or -EINVAL when they make no sense (nothing is kept then), or -ENOMEM. */
int symbol_metadata_parse(const struct symbol_image *image, const struct symbol_section *atomics,
			  const struct symbol_section *covered, struct symbol_metadata *metadata);
enum symbol_metadata_verdict symbol_metadata_judge(struct symbol_object *object, uint64_t address);

#endif
