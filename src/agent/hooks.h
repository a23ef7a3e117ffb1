/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the preload library knows of an architecture (insn/hooks.h has how one is chosen).
 * "agent/arch.h" has agent_arch, the struct below, and
 *   AGENT_ENTRY(name, before)  a function `name` that calls `before` with its first two arguments
 *                              and goes on, by a jump, where that returns to, with its registers
 *                              and its stack as its caller has them
 *   AGENT_ENTRY_OF_SIX(name, before)  the same with six arguments
 *   AGENT_ENTRY_KEPT(name, body)  a function `name` that calls `body` with its first four arguments
 *                              and, as the fifth, where the registers are noted that a function
 *                              keeps for its caller (`kept` below); it returns what that returns
 *   AGENT_ENTRY_BEGIN(name, begin)  a hidden function `name` that calls `begin` with its argument
 *                              and goes on, by a jump, in the function that this returns, with
 *                              the argument that it returns (struct agent_begun)
 *   AGENT_RESTORER(name)       in section .text.NAME: what the kernel returns to from a handler
 *                              (SA_RESTORER), by the instructions that debuggers know a signal's
 *                              frame by
 *   INJECTED_RUN(name)         in section .text.NAME: makes the calls of a struct injected_table
 *                              and then stops for its tracer (src/inject/batch.c)
 * Beside it an architecture has the functions of agent/opmask.h.
 */
#ifndef AGENT_HOOKS_H
#define AGENT_HOOKS_H

#include "record/area.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* Small enough to be returned in two registers. */
struct agent_begun {
	void *(*body)(void *);
	void *argument;
};

struct agent_hooks {
	/* The architecture's number in ELF files (e_machine, <elf.h>) and of its system calls
	 * (<linux/audit.h>). */
	uint16_t machine;
	uint32_t audit;
	/* Stands in front of where a restartable sequence begins anew (RSEQ_SIG, <sys/rseq.h>). */
	uint32_t sequence_word;
	/* Notes an interrupted thread's registers, numbered as in src/insn; without the thread
	 * pointer. */
	void (*registers)(const ucontext_t *context, struct area_registers *to);
	/* Notes the registers that are known of the caller of an AGENT_ENTRY_KEPT() function when
	 * that has returned: pc, stack pointer and INSN_KEPT_BY_CALLS. False: none is known. */
	bool (*kept)(const void *noted, struct area_registers *to);
	/* Where the thread was interrupted before the instruction at `from` it goes on at `to`.
	 * False: it was interrupted elsewhere. */
	bool (*divert)(ucontext_t *context, uint64_t from, uint64_t to);
	/* The thread pointer, by an instruction that only some processors have; whether this one
	 * has it and the kernel allows it, by what that has told the program at its start. */
	uint64_t (*pointer_by_instruction)(void);
	bool (*has_instruction)(void);
	/* The thread pointer where the C library has set up thread-local storage; the current stack
	 * pointer. */
	uintptr_t (*thread_pointer)(void);
	uintptr_t (*stack_pointer)(void);
	/* May this thread read the processor's clock, or would it be killed for it? */
	bool (*may_read_clock)(void);
	/* Copies without any function of libc, and by no code that a compiler turns into a call of
	 * one. */
	void (*copy)(void *to, const void *from, size_t length);
	void (*fill)(void *to, int byte, size_t length);
};

#endif
