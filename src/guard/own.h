/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that are certainly no blocks of the heap. */
#ifndef GUARD_OWN_H
#define GUARD_OWN_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes below the stack pointer that are the stack's still: a function that ends by jumping to
 * free() has left its frame. Below a stack the kernel keeps 1 MiB (stack_guard_gap) free, or a
 * thread's attributes tell where it begins. */
#define OWN_STACK_BELOW 65536u

extern uintptr_t own_image, own_image_size; /* of the program file as it is mapped */
/* Address bits that no block of this allocator has set; all bits until the allocator is known. */
extern uintptr_t own_unaligned;
/* An address with any of these bits set is looked at before it is freed: own_unaligned, or all
 * bits. */
extern uintptr_t own_suspected;
/* Of the calling thread; 0: it has not been looked for. */
extern __thread uintptr_t own_stack_end __attribute__((tls_model("initial-exec")));

/* `all`: every address is to be looked at. */
void own_begin(bool all);
void own_begin_thread(void);
/* Is it an address that no allocator gives out? */
bool own_looks_wrong(const void *block);
/* The same, or it lies on the calling thread's stack, or in the program file. Not for signal
 * handlers, unless the program itself does what is undefined there. */
bool own_is_no_block(const void *block, uint64_t stack_pointer);

#endif
