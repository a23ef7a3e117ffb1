/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about one machine instruction: its length, what it reads and writes, whether atomically,
 * where its operands point, and which instruction ran before a given place. Pure functions on bytes
 * and registers handed in: nothing here allocates, blocks, or reads memory it was not given.
 * What differs between architectures is in insn/hooks.h.
 */
#ifndef INSN_INSN_H
#define INSN_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insn/arch.h"

#define INSN_MAX_OPERANDS 4

struct insn_extended;

/* General registers as insn/arch.h numbers them. */
struct insn_registers {
	uint64_t general[INSN_GENERAL];
	uint64_t pc;
	uint64_t flags;
	uint64_t fs_base;
	uint64_t gs_base;
	/* Mask and vector registers, for masked operands, gathers and scatters; NULL where unknown
	 * (such operands then only may have touched a place). */
	const struct insn_extended *extended;
	/* k0 … k7, where these alone are known; NULL: see `extended`. */
	const uint64_t *opmasks;
};

enum insn_flow {
	INSN_FLOW_NEXT,	  /* falls through */
	INSN_FLOW_BRANCH, /* direct jump, conditional or not (see conditional) */
	INSN_FLOW_CALL,	  /* direct call */
	INSN_FLOW_JUMP_INDIRECT,
	INSN_FLOW_CALL_INDIRECT,
	INSN_FLOW_RETURN,
	INSN_FLOW_SYSCALL,
	INSN_FLOW_TRAP, /* int3, ud2, hlt: does not fall through as far as we know */
};

/* Is a conditional branch taken by whether the result before it was zero, and nothing else? */
enum insn_zero_branch { INSN_ZERO_BRANCH_NONE, INSN_ZERO_BRANCH_IF, INSN_ZERO_BRANCH_UNLESS };

struct insn_operand {
	uint8_t access; /* TL_READ | TL_WRITE of <trapline/event.h>; 0: address only (lea, nop) */
	uint16_t size;	/* bytes; of one element for string instructions and gathers */
	int8_t base, index;   /* general register numbers, -1 none, or INSN_PC */
	uint8_t scale;	      /* 1, 2, 4, 8 */
	uint8_t segment;      /* 0 none, 1 fs, 2 gs */
	uint8_t address_bits; /* 32 or 64 */
	int64_t displacement;
	bool masked;	     /* only elements selected by `mask` or `mask_vector` are touched */
	int8_t mask;	     /* k register, -1 none */
	int8_t mask_vector;  /* vector register whose elements' sign bits select, -1 none */
	uint8_t element;     /* bytes of one element, when masked or vector-indexed */
	int8_t vector_index; /* gather/scatter: vector register number, -1 none */
	uint8_t index_size;  /* bytes of one element of it */
	uint8_t elements;    /* of a gather or scatter */
	int8_t bit_index; /* bt, bts, btr, btc: the register counting bits from the address, or -1
			   */
	bool packed;	  /* compress/expand: selected elements lie side by side */
	bool byte_index;  /* xlat: only the low byte of `index` counts */
	bool line;	  /* the whole 64-byte line around the address (clflush, clzero) */
	bool extent_unknown; /* may touch more bytes than `size` (xsave, AMX tiles) */
	bool stack_push;     /* implicit push: address is rsp - size before the instruction */
	bool stack_pop;	     /* implicit pop: address is rsp before the instruction */
	/* May not happen although the instruction completes (xsave parts, cache-line flushes). The
	 * store of a cmpxchg always happens: it writes the old value back when the comparison fails
	 * (Intel SDM volume 2, CMPXCHG; AMD APM volume 3). */
	bool conditional;
};

struct insn {
	uint8_t length;
	uint8_t operand_count; /* memory operands only */
	uint8_t flow;	       /* enum insn_flow */
	bool conditional;      /* flow depends on flags or a register */
	uint8_t zero_branch;   /* enum insn_zero_branch */
	bool atomic;	       /* LOCK, or xchg with memory */
	bool attempt;	   /* atomic, and may leave the value that was there: takes a lock or not */
	bool string;	   /* movs, stos, lods, cmps, scas, ins, outs */
	bool repeated;	   /* with rep/repe/repne: count in rcx, traps between iterations */
	bool vector;	   /* SSE/AVX/AVX-512/x87/MMX/fxsave: not a plain integer move */
	bool whole_vector; /* a vector move that may be atomic: 16 bytes, must be aligned */
	bool plain_move;   /* mov r,m / mov m,r / mov m,imm / movzx / movsx: one load or store */
	bool mask_written; /* overwrites a mask register its memory operand is selected by */
	/* Brings what a comparison of vectors found to where branches look: to a general register
	 * or the flags (pmovmskb, kmov, kortest, ptest, pcmpistri …). */
	bool vector_outcome;
	int8_t move_condition;	/* of cmovcc: as insn_condition_holds() takes it; else -1 */
	bool takes_address;	/* a lea relative to the pc */
	uint64_t address_taken; /* what that computes; else 0 */
	int8_t loaded;		/* general register a load's value is found in afterwards, or -1 */
	/* What a plain move stores: a general register's value, or a constant. */
	int8_t stored; /* or -1 */
	bool stored_constant;
	int64_t constant;
	int8_t target_register;	    /* of `call *%reg` and `jmp *%reg`, or -1 */
	uint16_t written_registers; /* general registers it changes, bit per number */
	uint16_t written_vectors;   /* vector registers 0..15 it changes */
	bool stack_change_known;    /* it adds the constant stack_change to rsp */
	bool frame_leave;	    /* leave: rsp is rbp + 8 afterwards */
	int32_t stack_change;
	int64_t target; /* of a direct branch or call: absolute, given pc */
	struct insn_operand operand[INSN_MAX_OPERANDS];
};

/* Decode the instruction at `bytes` (at most `available`), which would run at address `pc`.
 * 0, or -EILSEQ (not an instruction), or -ENODATA (needs more bytes). */
int insn_decode(const uint8_t *bytes, size_t available, uint64_t pc, struct insn *insn);

/* Whether a condition holds by the flags register, numbered as in the low four bits of the opcodes
 * of jcc, setcc and cmovcc. */
bool insn_condition_holds(uint64_t flags, unsigned condition);

/*
 * Where an operand points, from registers as they are *before* the instruction. For a repeated
 * string instruction: the next iteration's element. Returns 0, or -ENODATA when a needed register
 * is unknown. `first` and `length` bound the bytes possibly touched (with masks: the selected ones'
 * hull, length 0 if none).
 */
int insn_operand_before(const struct insn *insn, unsigned operand,
			const struct insn_registers *registers, uint64_t *first, uint64_t *length);

/*
 * The same from registers as they are *after* the instruction (where data watchpoints trap
 * then). Undoes what the instruction is known to do to rsp, rsi, rdi. -ENODATA when the instruction
 * overwrote a register the address was made of (mov (%rax),%rax). registers->pc must be the end of
 * the instruction also where it jumped away from there (pc-relative operands count from it).
 */
int insn_operand_after(const struct insn *insn, unsigned operand,
		       const struct insn_registers *registers, uint64_t *first, uint64_t *length);

/* The same from registers as a data watchpoint finds them. */
static inline int insn_operand_trapped(const struct insn *insn, unsigned operand,
				       const struct insn_registers *registers, uint64_t *first,
				       uint64_t *length)
{
	return insn_arch.traps_after ? insn_operand_after(insn, operand, registers, first, length)
				     : insn_operand_before(insn, operand, registers, first, length);
}

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
	/* Nothing that reads its target from memory leads to the pc asked about: the answer of
	 * insn_reached_plainly(), kept by the caller. Saves a read of the watched memory. */
	bool reached_plainly;
};

struct insn_access {
	uint64_t pc;	  /* of the instruction that did it */
	uint64_t first;	  /* first byte touched by the matching operand */
	uint64_t length;  /* bytes touched there */
	unsigned access;  /* TL_READ | TL_WRITE, TL_ATOMIC, TL_KERNEL, TL_GUESSED */
	struct insn insn; /* the instruction, decoded */
	bool decoded;	  /* insn is valid */
	bool explained;	  /* false: nothing that may have run touched the watched bytes */
	bool unplaced;	  /* TL_GUESSED for `first` alone: it did touch a watched byte */
};

/*
 * Whether control comes to `pc` only from the instruction before it or by jumps that read no
 * memory: pc is not a function's start, does not follow a call, and no jump in its function reads
 * its target from memory. Assumes that returns go behind calls and that nothing jumps into the
 * middle of another function by a pointer in memory. Decodes the whole function: ask once for a
 * place.
 */
bool insn_reached_plainly(const struct insn_memory *memory, uint64_t pc);

/*
 * `wanted` is what the hardware slot can trip on (TL_WRITE, or TL_READ | TL_WRITE; with TL_KERNEL
 * if it also sees what the kernel does): an operand that the slot cannot have seen does not match.
 * Follows `call *mem`, `jmp *mem` and `ret` to their origin, recognises an unfinished rep at pc and
 * a system call just before pc (TL_KERNEL). Marks TL_GUESSED whenever another explanation of the
 * trap is possible. Always fills *result.
 *
 * Two assumptions: bounds() tells the truth, and no other thread changed a code pointer in memory
 * between the trap and this call.
 */
void insn_attribute(const struct insn_registers *after, uint64_t watched, uint64_t watched_length,
		    unsigned wanted, const struct insn_memory *memory, struct insn_access *result);

#endif
