/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about one machine instruction: its length, what it reads and writes, whether atomically,
 * where its operands point, and which instruction ran before a given place. Pure functions on bytes
 * and registers handed in: nothing here allocates, blocks, or reads memory it was not given.
 * One file pair per architecture (insn_x86_64.c) behind these functions.
 */
#ifndef INSN_INSN_H
#define INSN_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSN_MAX_LENGTH 15
#define INSN_MAX_OPERANDS 4

/* General registers in the order of the x86-64 encoding (rax rcx rdx rbx rsp rbp rsi rdi r8 … r15). */
struct insn_registers {
	uint64_t general[16];
	uint64_t pc;
	uint64_t flags;
	uint64_t fs_base;
	uint64_t gs_base;
	/* Mask registers and vector index registers, for masked and gather/scatter operands;
	 * NULL where unknown (the operand is then marked inexact). */
	const void *extended; /* struct insn_extended, or NULL */
};

/* AVX-512 state: k0..k7 and the full vector registers, as far as the saved context has them. */
struct insn_extended {
	uint64_t mask[8];
	uint8_t vector[32][64];
	uint32_t known_masks;   /* bit per k register */
	uint32_t known_vectors; /* bit per vector register */
};

enum insn_flow {
	INSN_FLOW_NEXT,     /* falls through */
	INSN_FLOW_BRANCH,   /* direct jump, conditional or not (see conditional) */
	INSN_FLOW_CALL,     /* direct call */
	INSN_FLOW_JUMP_INDIRECT,
	INSN_FLOW_CALL_INDIRECT,
	INSN_FLOW_RETURN,
	INSN_FLOW_SYSCALL,
	INSN_FLOW_TRAP,     /* int3, ud2, hlt: does not fall through as far as we know */
};

struct insn_operand {
	uint8_t access;      /* TL_READ | TL_WRITE of <trapline/event.h>; 0: address only (lea, nop) */
	uint16_t size;       /* bytes; of one element for string instructions and gathers */
	int8_t base, index;  /* general register numbers, -1 none, 16 = pc */
	uint8_t scale;       /* 1, 2, 4, 8 */
	uint8_t segment;     /* 0 none, 1 fs, 2 gs */
	int64_t displacement;
	uint8_t address_bits; /* 32 or 64 */
	bool masked;          /* only elements selected by `mask` are touched */
	uint8_t mask;         /* k register */
	uint8_t element;      /* bytes of one element, when masked or vector-indexed */
	int8_t vector_index;  /* gather/scatter: vector register number, -1 none */
	bool stack_push;      /* implicit push: address is rsp - size before the instruction */
	bool stack_pop;       /* implicit pop: address is rsp before the instruction */
	bool conditional;     /* may not happen although the instruction completes (cmpxchg store …) */
};

struct insn {
	uint8_t length;
	uint8_t operand_count;      /* memory operands only */
	uint8_t flow;               /* enum insn_flow */
	bool conditional;           /* flow depends on flags or a register */
	bool atomic;                /* LOCK, or xchg with memory */
	bool string;                /* movs, stos, lods, cmps, scas, ins, outs */
	bool repeated;              /* with rep/repe/repne: count in rcx, traps between iterations */
	bool vector;                /* SSE/AVX/AVX-512/x87/MMX/fxsave: not a plain integer move */
	bool plain_move;            /* mov r,m / mov m,r / mov m,imm / movzx / movsx: one load or store */
	uint16_t written_registers; /* general registers it changes, bit per number */
	int64_t target;             /* of a direct branch or call: absolute, given pc */
	struct insn_operand operand[INSN_MAX_OPERANDS];
};

/* Decode the instruction at `bytes` (at most `available`), which would run at address `pc`.
 * 0, or -EILSEQ (not an instruction), or -ENODATA (needs more bytes). */
int insn_decode(const uint8_t *bytes, size_t available, uint64_t pc, struct insn *insn);

/*
 * Where an operand points, from registers as they are *before* the instruction. For a repeated
 * string instruction: the next iteration's element. Returns 0, or -ENODATA when a needed register
 * is unknown. `first` and `length` bound the bytes possibly touched (with masks: the selected ones'
 * hull, length 0 if none).
 */
int insn_operand_before(const struct insn *insn, unsigned operand,
			const struct insn_registers *registers, uint64_t *first, uint64_t *length);

/*
 * The same from registers as they are *after* the instruction (a data watchpoint on x86 traps then).
 * Undoes what the instruction is known to do to rsp, rsi, rdi. -ENODATA when the instruction
 * overwrote a register the address was made of (mov (%rax),%rax).
 */
int insn_operand_after(const struct insn *insn, unsigned operand,
		       const struct insn_registers *registers, uint64_t *first, uint64_t *length);

/*
 * The instruction that ends exactly at `pc`, found by decoding forward from `start` (a function's
 * first byte, from the unwind tables) in `code`, which holds the bytes [start, start + available).
 * 0 and *previous_pc, or -ENOENT when no decoded instruction ends at pc.
 */
int insn_previous(const uint8_t *code, size_t available, uint64_t start, uint64_t pc,
		  uint64_t *previous_pc, struct insn *previous);

/*
 * The same without a known start: candidates that end at `pc`, decoded backwards from at most 15
 * bytes before it. Returns how many were written (at most max), longest first. A guess, always.
 */
int insn_previous_candidates(const uint8_t *before, size_t available, uint64_t pc,
			     struct insn *candidates, size_t max);

/*
 * Which access made a data watchpoint of [watched, watched + watched_length) fire, given the
 * registers after it. The caller supplies memory through `read`, which must not fault (returns 0 or
 * -errno), and function bounds through `bounds` (0 or -ENOENT).
 */
struct insn_memory {
	int (*read)(void *context, uint64_t address, void *to, size_t length);
	int (*bounds)(void *context, uint64_t pc, uint64_t *start, uint64_t *end);
	void *context;
};

struct insn_access {
	uint64_t pc;      /* of the instruction that did it */
	uint64_t first;   /* first byte touched by the matching operand */
	uint64_t length;  /* bytes touched there */
	unsigned access;  /* TL_READ | TL_WRITE, TL_ATOMIC, TL_KERNEL, TL_GUESSED */
	struct insn insn; /* the instruction, decoded */
	bool decoded;     /* insn is valid */
};

/*
 * `wanted` is what the hardware slot can trip on (TL_WRITE, or TL_READ | TL_WRITE): an operand that
 * the slot cannot have seen does not match. Follows `call *mem`, `jmp *mem` and `ret` to their
 * origin, recognises an unfinished rep at pc, a system call just before pc (TL_KERNEL), and a
 * branch to pc. Marks TL_GUESSED whenever another explanation of the trap is possible. Always
 * fills *result.
 */
void insn_attribute(const struct insn_registers *after, uint64_t watched, uint64_t watched_length,
		    unsigned wanted, const struct insn_memory *memory, struct insn_access *result);

#endif
