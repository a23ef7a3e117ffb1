/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which access a thread will make through a pointer that it has loaded. Its instructions are
 * carried out on a copy of its registers (insn/forward.h) in three passes. The first has all
 * registers. The second takes the pointer for unknown, and goes the same way with the memory that
 * the first has read. The third has the pointer moved elsewhere. An access is made through the
 * pointer if the first pass goes to the memory in question, the second does not know where it goes,
 * and the third goes as far elsewhere as the pointer was moved. Functions of the C library are not
 * followed; of those it is known which strings they read (libc/c_given.h). The result counts only
 * if the thread was held until all passes were over.
 */
#ifndef STACK_FORETELL_H
#define STACK_FORETELL_H

#include "process/space.h"
#include "insn/insn.h"

struct foretold {
	uint64_t pc, next; /* the instruction, and the one behind it */
	uint64_t address, length;
	unsigned access; /* TL_READ | TL_WRITE */
	uint64_t stack;	 /* the stack pointer before it; 0: not known */
	bool given; /* the function that is called there reads it: its address is in a register */
	uint8_t number;	 /* the number of that register */
	unsigned visits; /* how often the thread comes to `pc` before it makes the access */
	/* A branch on the way there may lead elsewhere: what it depends on is not known, or a
	 * function that was not followed may have changed it. */
	bool guessed;
};

/* The register into which the load at `pc` has put `address`; other registers may hold the same
 * address for a frame that is there now. -1: none, since the word was compared in memory or copied
 * by a vector. */
int foretell_loaded(struct space *space, uint64_t pc, uint64_t address,
		    const struct insn_registers *registers);

/* `pointers`: the registers that hold the pointer, a bit each; `holder`: the word that it was
 * loaded from; [start, end): the memory in question. True: `use` has the access. */
bool foretell_use(struct space *space, const struct insn_registers *registers, uint16_t pointers,
		  uint64_t holder, uint64_t start, uint64_t end, struct foretold *use);

#endif
