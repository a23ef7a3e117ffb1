/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a value that an instruction stores, or that a register holds, was made within its function:
 * backwards through the code, along every way that leads there, to the loads, constants, calls and
 * arguments that may have made it. Only the value is followed, not what its address was made of nor
 * what decided the way. Pure functions on bytes; the code may be anything.
 */
#ifndef SLICE_SLICE_H
#define SLICE_SLICE_H

#include "insn/effect.h"

#define FLOW_SLICE_CODE 16384 /* bytes; of larger functions nothing is told */
#define FLOW_SLICE_INSNS 4096
#define FLOW_SLICE_ENDS 8
#define FLOW_SLICE_VISITED 1048576u
#define FLOW_SLICE_PASSES 8192

enum flow_end_kind {
	FLOW_END_LOAD,	   /* the memory operand `operand` of the instruction at `pc` */
	FLOW_END_CONSTANT, /* `constant`, made at `pc` */
	FLOW_END_RETURN,   /* what the call, or the function's last jump, at `pc` returned; `target`
			    * of a direct one, or 0; in register `place` */
	FLOW_END_ARGUMENT, /* register `number` held it at the function's start */
	FLOW_END_KERNEL,   /* what the system call at `pc` returned */
	FLOW_END_UNKNOWN,  /* `reason` at `pc` */
};

#define FLOW_BARRED 4 /* constants that a value is compared with */

struct flow_end {
	enum flow_end_kind kind;
	uint64_t pc;
	unsigned operand;
	uint16_t first, length;	 /* of a load: which bytes of the operand; length 0: any */
	uint64_t bits;		 /* of a load: which of these bytes' bits; UINT64_MAX: all */
	struct insn_place place; /* of an argument, or what was returned: the register */
	uint64_t constant, target;
	const char *reason; /* static text */
	/* Of a load: the registers of its address are the same behind the slice's instruction. */
	bool address_kept;
	/* Of a load or a call: what is stored may be of an earlier pass of it than the last one, as
	 * where a loop looks for one value among many. */
	bool earlier_pass;
	/* Of a load or a call: whatever it has brought is, or makes, the slice's value, whichever
	 * way control takes then. */
	bool always;
	/* Of a load, a call or an argument: an instruction that takes one of two (cmov) may have
	 * taken the other one, which is not made of it. */
	bool one_of_two;
	/* Of a load: with these the code does not go on. */
	uint64_t barred[FLOW_BARRED];
	uint8_t barred_count;
	/* Of a load that a loop repeats: what it has loaded, but for these bytes (a bit each), is
	 * always in the value, as in a sum or in a number that is made of digits. */
	bool gathers, bytes_lost;
	uint64_t byte_lost[4];
	/* Of a load: general registers, a bit each, that hold the same before the load and behind
	 * the slice's instruction, whichever way led from the one to the other with the value. */
	uint16_t kept;
};

struct flow_slice {
	struct flow_end end[FLOW_SLICE_ENDS];
	unsigned ends;
	bool more;   /* there were others */
	bool copies; /* the value came unchanged from any end that it came from */
	bool again;  /* of a store: it may run again without any of its ends, as a loop's does */
};

/* Room for the analysis: large; its contents need not be set, but for the first three. */
struct flow_slice_work {
	/* Is a direct call of `target` known never to have returned? NULL: of none. */
	bool (*never_returned)(void *context, uint64_t target);
	/* Memory of the program, whole or not at all: tables of jumps. NULL: none can be read. */
	bool (*read)(void *context, uint64_t address, void *bytes, size_t length);
	void *context;
	struct insn_effect effect[FLOW_SLICE_INSNS];
	uint64_t pc[FLOW_SLICE_INSNS];
	unsigned count;
	const uint8_t *code; /* of the function that was decoded last */
	size_t length;
	uint16_t at[FLOW_SLICE_CODE]; /* index of the instruction at each byte, plus 1 */
	/* What was looked for before which instruction, by a hash: a collision, of which there is
	 * one in hundreds of slices, loses a way. */
	uint64_t visited[FLOW_SLICE_VISITED / 64];
	uint8_t reached[FLOW_SLICE_INSNS];
	uint8_t label[FLOW_SLICE_INSNS];  /* an indirect jump may lead there, by a table */
	uint8_t joined[FLOW_SLICE_INSNS]; /* control comes there not only from the one before */
	/* The value came through this instruction, which takes one of two; is there any such? */
	uint8_t select[FLOW_SLICE_INSNS];
	bool selects;
	struct {
		uint16_t index;
		struct insn_place place;
		uint64_t bits; /* of the place's register: slice/bits.h */
	} queue[8 * FLOW_SLICE_INSNS];
	unsigned queued;
	/* passes.c: which registers hold the value, or parts, before which instruction; and
	 * where control comes from to each: chains through `before`, of those that jump or fall
	 * through to it. */
	struct {
		uint64_t held;
		uint16_t index;
		bool passed;
	} pass[FLOW_SLICE_PASSES];
	uint16_t changed; /* general registers that change somewhere on these ways */
	uint16_t chain[FLOW_SLICE_INSNS], before[2][FLOW_SLICE_INSNS];
};

/* Which of its memory operands an instruction stores to, and which bytes of it are asked about. */
struct flow_stored {
	unsigned operand;
	unsigned first, length;
	uint64_t bits; /* of these bytes, at most eight; 0: all */
};

/*
 * What made the bytes that the instruction at `pc` stores. `code` holds the function, [start, start
 * + length). 0; -E2BIG, -EILSEQ, or -ENOENT: it stores nothing there.
 */
int flow_slice_store(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		     const struct flow_stored *stored, struct flow_slice_work *work,
		     struct flow_slice *slice);
/* What made the value of `place` before the instruction at `pc`. 0 or -errno. */
int flow_slice_place(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		     struct insn_place place, struct flow_slice_work *work,
		     struct flow_slice *slice);
/* What made the value of the register, at each return of the function. */
int flow_slice_return(const uint8_t *code, size_t length, uint64_t start, struct insn_place place,
		      struct flow_slice_work *work, struct flow_slice *slice);

#endif
