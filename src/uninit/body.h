/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread at a function's first instruction is held by a signal, whose frame the kernel puts below
 * the red zone: where the function's own frame will lie. As the thread goes on the kernel reads it
 * there, and a watch on one of its words tells of nothing else. Behind the instructions that make
 * room for the function's frame such a word can be watched.
 */
#ifndef UNINIT_BODY_H
#define UNINIT_BODY_H

#include "uninit/ahead.h"

/*
 * Where the thread comes to, for certain, with a stack pointer (*stack) that is below the words,
 * before anything is stored to them. 0: nobody knows, or no word lies where a signal's frame would.
 */
uint64_t body_find(struct ahead *ahead, const struct tl_registers *registers,
		   const struct predict_word *words, unsigned count, uint64_t *stack);

#endif
