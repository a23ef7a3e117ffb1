/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restartable sequences (rseq(2)): stretches of code that the kernel begins anew where their thread
 * was interrupted, moved to another CPU or sent a signal. So two threads on one CPU cannot come
 * between each other's load and store, and what they write to data of a CPU is in order without
 * LOCK: counters of librseq, caches of tcmalloc.
 *
 * Section __rseq_cs holds a descriptor for each (include/uapi/linux/rseq.h: struct rseq_cs, 32
 * bytes): version and flags, 32 bits each, the first instruction's address, the length up to behind
 * the one that commits, and where the kernel leads who was interrupted. Section headers stay in
 * stripped files. A program whose descriptors are elsewhere, on a stack say, is not known.
 */
#ifndef ELF_SEQUENCES_H
#define ELF_SEQUENCES_H

#include "elf/metadata.h"

struct symbol_sequences {
	struct symbol_covered *range; /* sorted by low; they do not overlap */
	size_t count;
};

/*
 * `relocations`: Elf64_Rela; where one of them writes a word of a descriptor, its addend is what
 * will stand there. Descriptors that make no sense are left out. 0 or -ENOMEM.
 */
int symbol_sequences_parse(const struct symbol_image *image,
			   const struct symbol_section *descriptors,
			   const struct symbol_section *relocations,
			   struct symbol_sequences *sequences);
/* Is the instruction at `address`, as linked, part of one? */
bool symbol_sequence_has(struct symbol_object *object, uint64_t address);

#endif
