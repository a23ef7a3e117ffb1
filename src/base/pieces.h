/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few pieces of memory that are there from the start, for what is short as a rule and needed
 * often: to map a page and unmap it again costs a fault and an interrupt of every CPU on which the
 * process ran. Async-signal-safe. A piece that is out as a process forks is out in the child for
 * good; who finds none left maps pages.
 */
#ifndef BASE_PIECES_H
#define BASE_PIECES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIECES 16u

/* Bit n: piece n is out. */
struct pieces {
	_Atomic uint32_t out;
};

/* NULL: none is left. `first` is where PIECES of `size` bytes each lie. */
static inline void *pieces_take(struct pieces *pieces, void *first, size_t size)
{
	uint32_t out = atomic_load_explicit(&pieces->out, memory_order_relaxed);
	uint32_t left;

	do {
		left = ~out & ((1u << PIECES) - 1);
		if (!left)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(&pieces->out, &out, out | (left & -left),
							memory_order_acquire,
							memory_order_relaxed));
	return (char *)first + (size_t)__builtin_ctz(left) * size;
}

/* False: it is no piece of these. */
static inline bool pieces_give(struct pieces *pieces, const void *first, size_t size,
			       const void *piece)
{
	uintptr_t offset = (uintptr_t)piece - (uintptr_t)first;

	if (offset >= PIECES * size)
		return false;
	atomic_fetch_and_explicit(&pieces->out, ~(1u << offset / size), memory_order_release);
	return true;
}

#endif
