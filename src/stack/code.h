/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code of one function tells of its frame: where it hands out addresses of its locals,
 * what lies between its locals and its return address, and which other functions it names. A pure
 * function on bytes. What it says only chooses what is looked at; nothing is reported by it alone,
 * but for what `struct code_at` says, which holds on every way through the function.
 */
#ifndef STACK_CODE_H
#define STACK_CODE_H

#include "insn/insn.h"
#include "insn/origin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_STORES 16
#define CODE_PASSES 24
#define CODE_NAMES 64
#define CODE_TAKEN 64
#define CODE_INDIRECT 32
#define CODE_LEAVES 8
/* Numbers of the registers that a frame is reached through. */
#define SP ((int)insn_arch.stack_pointer)
#define FP ((int)insn_arch.frame_pointer)
#define CODE_FRAME ((int8_t)SP) /* as a value's origin: the stack pointer at entry */

/* A register's value as the function was entered, plus `offset`; `number` CODE_FRAME: an address in
 * the function's frame. INSN_ORIGIN_NONE: not known. */
typedef struct insn_origin code_value;

/* A store of an address in the frame, or of an argument, into memory that is not the frame. */
struct code_store {
	uint32_t at; /* bytes from the function's start */
	code_value value;
};

/* A call with such a value as an argument, in register `to`. */
struct code_pass {
	uint64_t target;
	uint32_t at;
	int8_t to;
	code_value value;
};

/* A call or a jump through a register or memory. */
struct code_indirect {
	uint32_t at;
	uint64_t pointer; /* address of the memory that says where to, if the code tells; or 0 */
};

/* A stack slot by its distance from the stack pointer at entry, which is where the return address
 * stands. */
struct code_slot {
	bool known;
	int32_t offset;
};

struct code {
	uint64_t start, end;
	bool calls;	      /* so it uses nothing below its stack pointer */
	bool takes_address;   /* of its own frame, into a register other than rsp and rbp */
	int32_t lowest_taken; /* the lowest of these */
	/* An address in its frame goes into memory, or into a register other than rsp and rbp, or
	 * rbp with one is changed: from there on it may be any address in the frame. */
	bool forms_address;
	bool frame_pointer; /* somewhere rbp has an address in the frame */
	bool moves_freely;  /* its stack pointer, by amounts that the code does not tell */
	bool followed;	    /* the whole of its code was */
	/* Offset of a return with an address in the frame as the result, 0: none. */
	uint32_t returns_frame;
	/* Where the prologue has ended, and the stack pointer there less the one at entry. */
	uint32_t ready;
	int32_t depth;
	bool unwinds; /* it goes on in another frame, by what it stores to its own saved registers
		       */
	struct code_slot canary, saved; /* saved: the lowest of the registers pushed at entry */
	uint32_t canary_at;		/* the store that sets it */
	struct code_store store[CODE_STORES];
	struct code_pass pass[CODE_PASSES];
	uint64_t name[CODE_NAMES];    /* functions called, or whose address is taken, … */
	uint32_t name_at[CODE_NAMES]; /* … and where it comes last */
	struct code_indirect indirect[CODE_INDIRECT];
	/* Returns, before which all of the frame but the return address is gone. */
	uint32_t leave[CODE_LEAVES];
	unsigned stores, passes, names, indirects, leaves;
};

/* Room for the analysis; large, its contents need not be set. */
struct code_work {
	struct insn_origin_work origins;
	struct slot_value {
		int32_t offset;
		unsigned written; /* times in the code */
		code_value value; /* of the first */
	} slot[64];
	unsigned slots;
	code_value loaded[16];	   /* what was loaded from a slot, by register */
	int32_t taken[CODE_TAKEN]; /* offsets whose address is taken */
	unsigned takens;
};

/* 0, or -errno where the code cannot be followed (insn_origins()). */
int code_analyse(const uint8_t *code, size_t length, uint64_t start, struct code_work *work,
		 struct code *to);

/* What an access's address is made of, for rules that must hold on all ways to `at`. */
struct code_at {
	bool depth_known;
	int32_t depth;	 /* the stack pointer less the one at entry, through rsp or rbp */
	uint8_t through; /* the register it is known through: 4 or 5 */
	/* Of the operand's base register, offset to now included; or of its index, where that has
	 * an address in the frame. */
	code_value base;
	int8_t base_register; /* -1: none, or there is an index */
};

/* Of the instruction `insn`, `at` bytes from the start of the function. 0 or -errno. A register
 * that was loaded just before from a slot of the frame has that slot's value, where the function
 * writes the slot once and takes its address nowhere. */
int code_describe(const uint8_t *code, size_t length, const struct insn_entries *entries, size_t at,
		  const struct insn *insn, unsigned operand, struct code_work *work,
		  struct code_at *to);

#endif
