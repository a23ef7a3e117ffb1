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

#define FLOW_SLICE_CODE 16384 /* bytes; larger functions are not looked into */
#define FLOW_SLICE_INSNS 4096
#define FLOW_SLICE_ENDS 8
#define FLOW_SLICE_VISITED 1048576u
#define FLOW_SLICE_PASSES 8192

enum flow_end_kind {
	FLOW_END_LOAD,	   /* the memory operand `operand` of the instruction at `pc` */
	FLOW_END_CONSTANT, /* `constant`, made at `pc` */
	/* what the call, or the function's last jump, at `pc` returned in register `place`;
	 * `target`: where a direct one leads, or 0 */
	FLOW_END_RETURN,
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
	/* Of a load: from the load to the slice's instruction, the registers of its address do not
	 * change. */
	bool address_kept;
	/* Of a load or a call that runs repeatedly: what is stored may come from an earlier run of
	 * it than the last, as where a loop looks for one value among many. */
	bool earlier_pass;
	/* Of a load or a call: the slice's value always is, or is made of, what it brings,
	 * whichever way control takes from there. */
	bool always;
	/* Of a load, a call or an argument: an instruction that takes one of two (cmov) may have
	 * taken the other one, which is not made of it. */
	bool one_of_two;
	/* Of a load: constants; when it loads one of these, control never comes to the slice's
	 * instruction with it. */
	uint64_t barred[FLOW_BARRED];
	uint8_t barred_count;
	/* Of a load that a loop repeats: what it has loaded is always in the value, as in a sum or
	 * in a number that is made of digits. With `bytes_lost` that does not hold for the bytes
	 * whose bits are set in `byte_lost`. */
	bool gathers, bytes_lost;
	uint64_t byte_lost[4];
	/* Of a load: the general registers, a bit each, that hold the same before the load and
	 * after the slice's instruction, whichever way led from the one to the other with the
	 * value. */
	uint16_t kept;
};

struct flow_slice {
	struct flow_end end[FLOW_SLICE_ENDS];
	unsigned ends;
	bool more;   /* there were more ends than there is room for */
	bool copies; /* the value is a plain copy of any end that it may come from */
	bool again;  /* of a store: it may run again without any of its ends, as a loop's does */
};

/* The analysis works in this. It is large; only its first three members need to be set. */
struct flow_slice_work {
	/* Is a direct call of `target` known never to have returned? NULL: of none. */
	bool (*never_returned)(void *context, uint64_t target);
	/* Reads memory of the program, all of it or nothing; tables of jumps are found by it. NULL:
	 * none can be read. */
	bool (*read)(void *context, uint64_t address, void *bytes, size_t length);
	void *context;
	struct insn_effect effect[FLOW_SLICE_INSNS];
	uint64_t pc[FLOW_SLICE_INSNS];
	unsigned count;
	const uint8_t *code; /* the function that was decoded last */
	size_t length;
	uint16_t at[FLOW_SLICE_CODE]; /* index of the instruction at each byte, plus 1 */
	/* A bit for the hash of each pair of what was looked for and before which instruction. Two
	 * with the same hash, which some hundreds of slices have once, lose a way. */
	uint64_t visited[FLOW_SLICE_VISITED / 64];
	uint8_t reached[FLOW_SLICE_INSNS];
	uint8_t label[FLOW_SLICE_INSNS]; /* a table of jumps may lead here */
	/* control comes here not only from the instruction before */
	uint8_t joined[FLOW_SLICE_INSNS];
	/* select: the value came through this instruction, which takes one of two sources; selects:
	 * there is such an instruction. */
	uint8_t select[FLOW_SLICE_INSNS];
	bool selects;
	struct {
		uint16_t index;
		struct insn_place place;
		/* the bits of the place's register that are looked for (slice/bits.h) */
		uint64_t bits;
	} queue[8 * FLOW_SLICE_INSNS];
	unsigned queued;
	/* passes.c: which registers hold the value, or parts of it, before which instruction. Where
	 * control comes from to each instruction: chains through `before` of those that jump or
	 * fall through to it. */
	struct {
		uint64_t held;
		uint16_t index;
		bool passed;
	} pass[FLOW_SLICE_PASSES];
	uint16_t changed; /* general registers that change anywhere on these ways */
	uint16_t chain[FLOW_SLICE_INSNS], before[2][FLOW_SLICE_INSNS];
};

/* One memory operand of an instruction that stores to it, and which bytes of it are asked about. */
struct flow_stored {
	unsigned operand;
	unsigned first, length;
	uint64_t bits; /* which bits of these bytes, if they are eight at most; 0: all */
};

/*
 * Finds what made the bytes that the instruction at `pc` stores. `code` holds the function, [start,
 * start + length). 0; -E2BIG: the function is too large; -EILSEQ: no instruction begins at `pc`;
 * -ENOENT: it stores nothing there.
 */
int flow_slice_store(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		     const struct flow_stored *stored, struct flow_slice_work *work,
		     struct flow_slice *slice);
/* Finds what made the value of `place` before the instruction at `pc`. 0 or -errno. */
int flow_slice_place(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		     struct insn_place place, struct flow_slice_work *work,
		     struct flow_slice *slice);
/* Finds what made the value of the register at each return of the function. */
int flow_slice_return(const uint8_t *code, size_t length, uint64_t start, struct insn_place place,
		      struct flow_slice_work *work, struct flow_slice *slice);

#endif
