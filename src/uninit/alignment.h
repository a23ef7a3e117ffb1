/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushes that store nothing of meaning. Compilers move the stack pointer down by a word with `push
 * %rax` at a function's beginning. A variable that then lies in that word has not been written by
 * it: rax hands a function nothing except, if it takes variable arguments, the number of vector
 * registers used (System V ABI for x86-64, 3.2.3).
 */
#ifndef UNINIT_ALIGNMENT_H
#define UNINIT_ALIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALIGNMENT_PUSH 0x50u /* its first and only byte */

/* Code from `pc` on: how many bytes, `max` at most. */
typedef size_t alignment_code_fn(void *context, uint64_t pc, uint8_t *bytes, size_t max);

/* Is the instruction at `pc`, of the function that begins at `start`, certain to be such a push? It
 * is where rax still has the value that the function was entered with, and the function never reads
 * it. */
bool is_alignment_push(alignment_code_fn *code, void *context, uint64_t start, uint64_t pc);

#endif
