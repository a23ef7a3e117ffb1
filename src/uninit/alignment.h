/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores of what means nothing. Compilers move the stack pointer down by a word with `push %rax`
 * where a function begins, and a variable may then lie where rax was stored: that has not written
 * it. (System V ABI for x86-64, 3.2.3: rax hands a function nothing but, to those of variable
 * arguments, how many vector registers have some.)
 */
#ifndef UNINIT_ALIGNMENT_H
#define UNINIT_ALIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALIGNMENT_PUSH 0x50u /* its first and only byte */

/* Code from `pc` on: how many bytes, `max` at most. */
typedef size_t alignment_code_fn(void *context, uint64_t pc, uint8_t *bytes, size_t max);

/* Is the instruction at `pc` of the function that begins at `start` such a push? For certain: rax
 * is what it was when the function was entered, and the function does not look at it. */
bool is_alignment_push(alignment_code_fn *code, void *context, uint64_t start, uint64_t pc);

#endif
