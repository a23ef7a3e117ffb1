/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread has loaded a pointer: which access will it make through it? Its instructions are carried
 * out twice on a copy of its registers (insn/forward.h), the second time without the pointer, but
 * on the same way and with the memory that the first time has read. An access that the first time
 * goes to the memory in question, and the second time is not known, is made through the pointer,
 * if it goes as far elsewhere as the pointer does, a third time. Of functions of the C library that
 * are not followed it is known which strings they read (libc/c_given.h).
 * That counts only if the thread has been held until both were over.
 */
#ifndef STACK_FORETELL_H
#define STACK_FORETELL_H

#include "process/space.h"
#include "insn/insn.h"

struct foretold {
	uint64_t pc, next; /* of the instruction, and of the one behind it */
	uint64_t address, length;
	unsigned access; /* TL_READ | TL_WRITE */
	uint64_t stack;	 /* the stack pointer before it; 0: not known */
	bool given;	 /* a function that is called there reads it, given it in a register */
	uint8_t number;	 /* of that */
	unsigned visits; /* of the instruction, before the one that makes the access */
	/* On the way there is a branch that may lead elsewhere: what it depends on is not known, or
	 * may have been changed by a function that was not followed. */
	bool guessed;
};

/* The register that has `address` by the load at `pc`. Others may have the same one for a frame
 * that is there now. -1: none, it was compared in memory, or copied by a vector. */
int foretell_loaded(struct space *space, uint64_t pc, uint64_t address,
		    const struct insn_registers *registers);

/* `pointers`: the registers that hold it, bit per number; `holder`: where it was loaded from.
 * [start, end): the memory. True: found. */
bool foretell_use(struct space *space, const struct insn_registers *registers, uint16_t pointers,
		  uint64_t holder, uint64_t start, uint64_t end, struct foretold *use);

#endif
