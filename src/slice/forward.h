/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a loaded value within its function: forwards through the code, along every way
 * that leads on, to the stores, comparisons, addresses, calls and returns that use it. Pure
 * functions on bytes; the code may be anything.
 */
#ifndef SLICE_FORWARD_H
#define SLICE_FORWARD_H

#include "slice/slice.h"

#define FLOW_USES 12

enum flow_use_kind {
	FLOW_USE_STORE,	   /* into memory operand `operand` of the instruction at `pc` */
	FLOW_USE_COMPARE,  /* the instruction at `pc` sets flags by it and does nothing else */
	FLOW_USE_ADDRESS,  /* an operand's address is made of it */
	FLOW_USE_ARGUMENT, /* it is in register `place` when the call at `pc` goes to `target` */
	FLOW_USE_RETURN,   /* it is what the function returns, at `pc`, in register `place` */
};

struct flow_use {
	enum flow_use_kind kind;
	uint64_t pc, target; /* target: of a direct call, or 0 */
	unsigned operand;
	uint16_t first, length; /* of a store: which bytes of the operand hold it; length 0: any */
	bool jump;		/* of an argument: the function jumps there at its end */
	/* The function can return without this use, or load anew before it in place of this
	 * value. */
	bool bypassed;
	struct insn_place place;
};

struct flow_uses {
	struct flow_use use[FLOW_USES];
	unsigned count;
	bool more;   /* there were more uses than there is room for */
	bool copies; /* whatever was made of the value is the value itself, or some of its bytes */
};

/* The uses of what the instruction at `pc` loads by its memory operands: of bytes [first, first +
 * wanted) of them. Returns 0, or an error as flow_slice_store() does. */
int flow_uses_of_load(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		      unsigned first, unsigned wanted, struct flow_slice_work *work,
		      struct flow_uses *uses);
/* The uses of what `place` holds before the instruction at `pc`. */
int flow_uses_of_place(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		       struct insn_place place, struct flow_slice_work *work,
		       struct flow_uses *uses);

#endif
