/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does code look for the end of something a vector or a word at a time, as string functions do, so
 * that its loads may reach behind what it is asked about? A compiler's loop over vectors loads what
 * its source does, and has no branch that depends on their elements. Pure functions on bytes.
 */
#ifndef INSN_SEARCH_H
#define INSN_SEARCH_H

#include "insn/insn.h"

/*
 * Has the function whose code this is, all of it, branches by comparisons of vectors? True also
 * where it cannot be decoded. Accepted: one that compares for another purpose is taken for one that
 * searches; one that loads aligned vectors around its source and shifts what it wants out of them
 * (glibc's __memcpy_ssse3, of processors before 2011) is not.
 */
bool insn_searches_vectors(const uint8_t *code, size_t length, uint64_t start);

/* Has this code a constant by which a zero byte is found among those of a `word` of 4 or 8 bytes?
 * It may begin and end anywhere. */
bool insn_searches_words(const uint8_t *code, size_t length, size_t word);

/* The same of constants that stand in memory, at a distance from the code: that has to begin with
 * an instruction. */
bool insn_searches_by_constant(const uint8_t *code, size_t length, uint64_t start, size_t word,
			       const struct insn_memory *memory);

#endif
