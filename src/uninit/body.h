/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where to wait before words of a frame that is being entered can be watched. A thread is held at a
 * function's first instruction by a signal, and the kernel puts that signal's frame below the red
 * zone, which is where the function's own frame will lie. When the thread goes on the kernel reads
 * the signal's frame, so a watch on a word in it would only tell of that. Once the function has
 * moved its stack pointer below the word, signals lie lower, and the word can be watched.
 */
#ifndef UNINIT_BODY_H
#define UNINIT_BODY_H

#include "uninit/ahead.h"

/*
 * The first instruction that the thread is certain to come to with a stack pointer (*stack) below
 * all of the words and before it stores to any of them. 0: there is none that is known, or no word
 * lies where a signal's frame would, so that there is nothing to wait for.
 */
uint64_t body_find(struct ahead *ahead, const struct tl_registers *registers,
		   const struct predict_word *words, unsigned count, uint64_t *stack);

#endif
