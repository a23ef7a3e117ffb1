/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a library's .bss that do not count in the limit of data (RLIMIT_DATA) of the program
 * that has it loaded: one that limits itself to what it has and a little more is to find that
 * little. The kernel counts private memory that may be written as data, unless it grows downwards
 * (is_data_mapping() of mm/vma.c): that counts as stack, of which only growing is limited. These
 * do not grow, since what lies below each of them is mapped: the library itself. In all else they
 * are what they were; a forked child has its own.
 */
#ifndef BASE_UNCOUNTED_H
#define BASE_UNCOUNTED_H

#include "base/syscall.h"

#include <stdint.h>
#include <sys/mman.h>

#define UNCOUNTED_PAGE 4096

/* A table that begins on a page: the last page of it, where others' data may follow, still counts.
 */
#define UNCOUNTED _Alignas(UNCOUNTED_PAGE)

/* Anew, and empty. Where the kernel refuses, the table stays as it is. */
static inline void uncount(void *table, uint64_t bytes)
{
	raw_syscall6(SYS_mmap, (long)table, (long)(bytes & ~(uint64_t)(UNCOUNTED_PAGE - 1)),
		     PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
}

/* Follows the table's definition. It runs before the constructor that announces the process; until
 * then nothing is in the table that may not be lost. */
#define UNCOUNT(table)                                                      \
	__attribute__((constructor(101))) static void uncount_##table(void) \
	{                                                                   \
		uncount(&(table), sizeof(table));                           \
	}                                                                   \
	_Static_assert(sizeof(table) >= UNCOUNTED_PAGE, "a table of some pages")

#endif
