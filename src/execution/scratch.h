/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the time of a call that executes a program: the stack may be a few pages, and nothing
 * of libc's heap may be used, since the caller may be a signal handler or a vfork()ed child.
 *
 * What is mapped by a child that borrows this memory stays in its parent when the child has
 * executed. So such memory is kept by thread, and the next child of that thread uses it again: the
 * thread comes here again only when the last child no longer borrows its memory.
 */
#ifndef EXECUTION_SCRATCH_H
#define EXECUTION_SCRATCH_H

#include <stddef.h>

/* Zeroed or not; NULL: there is none to be had. Async-signal-safe. */
void *scratch_take(size_t size);

/* The call has returned. Leaves errno alone. */
void scratch_give(void *memory, size_t size);

#endif
