/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code of one function tells of its frame: where it hands out addresses of its locals,
 * what lies between its locals and its return address, and which other functions it names. Pure
 * functions on bytes. `struct code` may be wrong where the code takes another way, and only chooses
 * what is looked at. `struct code_at` holds on every way through the function, and rules rely on
 * it.
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

/* A value as a sum: what register `number` held as the function was entered, plus `offset`. With
 * CODE_FRAME as the number it is an address in the function's frame. INSN_ORIGIN_NONE: the value is
 * not known. */
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
	bool calls;	      /* it calls others, so it uses nothing below its stack pointer */
	bool takes_address;   /* it puts an address in its frame into a register other than rsp and
				 rbp */
	int32_t lowest_taken; /* the lowest of these addresses, from the stack pointer at entry */
	/* An address in its frame is stored, or goes into a register other than rsp and rbp, or rbp
	 * is changed while it has one. From there on any address in the frame may be formed. */
	bool forms_address;
	bool frame_pointer; /* rbp has an address in the frame somewhere */
	bool moves_freely;  /* it moves its stack pointer by amounts that the code does not tell, as
			       alloca() does */
	bool followed;	    /* the whole of its code was followed */
	/* Where, in bytes from the start, it returns with an address in its frame as the result; 0:
	 * nowhere. */
	uint32_t returns_frame;
	/* The end of the prologue in bytes from the start, and the stack pointer there less the one
	 * at entry. */
	uint32_t ready;
	int32_t depth;
	bool unwinds; /* it goes on in another function's frame, by changing the registers that it
			 has saved (__builtin_eh_return()) */
	struct code_slot canary, saved; /* `saved`: the lowest of the registers pushed at entry */
	uint32_t canary_at;		/* the store that sets it */
	struct code_store store[CODE_STORES];
	struct code_pass pass[CODE_PASSES];
	uint64_t name[CODE_NAMES];    /* functions that it calls or takes the address of, … */
	uint32_t name_at[CODE_NAMES]; /* … and where in the code each comes last */
	struct code_indirect indirect[CODE_INDIRECT];
	/* Return instructions: before these all of the frame but the return address is gone. */
	uint32_t leave[CODE_LEAVES];
	unsigned stores, passes, names, indirects, leaves;
};

/* Room for the analysis; large, its contents need not be set. */
struct code_work {
	struct insn_origin_work origins;
	struct slot_value {
		int32_t offset;
		unsigned written; /* how many instructions store to it */
		code_value value; /* that the first of them stores */
	} slot[64];
	unsigned slots;
	code_value loaded[16];	   /* what was loaded from a slot, by register */
	int32_t taken[CODE_TAKEN]; /* offsets whose address is taken */
	unsigned takens;
};

/* 0, or -errno where the code cannot be followed (insn_origins()). */
int code_analyse(const uint8_t *code, size_t length, uint64_t start, struct code_work *work,
		 struct code *to);

/* What an access's address is made of, on every way to `at`. */
struct code_at {
	bool depth_known;
	int32_t depth;	 /* the stack pointer less the one at entry */
	uint8_t through; /* the register that this is known by: 4 (rsp) or 5 (rbp) */
	/* What the operand's base register holds, or its index register where that one has an
	 * address in the frame. */
	code_value base;
	int8_t base_register; /* -1: none, or there is an index */
};

/* Describes the access by `operand` of the instruction `insn`, `at` bytes from the start of the
 * function. 0 or -errno. A register that was loaded just before from a slot of the frame has that
 * slot's value, if the function writes the slot once and takes its address nowhere. */
int code_describe(const uint8_t *code, size_t length, const struct insn_entries *entries, size_t at,
		  const struct insn *insn, unsigned operand, struct code_work *work,
		  struct code_at *to);

#endif
