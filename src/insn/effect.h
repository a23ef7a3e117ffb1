/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one instruction makes of what: each place that it writes, by which operation, and from which
 * places. Data flow is followed with it, forwards (shadow.h) or backwards. Pure functions on
 * bytes: nothing is read but the bytes handed in.
 */
#ifndef INSN_EFFECT_H
#define INSN_EFFECT_H

#include "insn/insn.h"

#define INSN_EFFECT_RESULTS 6
#define INSN_EFFECT_SOURCES 4

enum insn_place_kind {
	INSN_PLACE_NONE,
	INSN_PLACE_GENERAL,  /* by number in the order of the encoding */
	INSN_PLACE_VECTOR,   /* 0..31 */
	INSN_PLACE_MASK,     /* k0..k7 */
	INSN_PLACE_FLAGS,    /* `number`: which, INSN_FLAG_… */
	INSN_PLACE_MEMORY,   /* `number`: of the operand in struct insn */
	INSN_PLACE_CONSTANT, /* its value in `constant` of the result */
	INSN_PLACE_OTHER,    /* x87, MMX, segments, the program counter and so on */
};

#define INSN_FLAG_CARRY 0x01u
#define INSN_FLAG_PARITY 0x02u
#define INSN_FLAG_ZERO 0x04u
#define INSN_FLAG_SIGN 0x08u
#define INSN_FLAG_OVERFLOW 0x10u
#define INSN_FLAG_OTHER 0x20u
#define INSN_FLAGS_ALL 0x3fu

/* Bytes [first, first + length) of a register or an operand; of memory operands `first` is 0. */
struct insn_place {
	uint8_t kind; /* enum insn_place_kind */
	uint8_t number;
	uint8_t first;	 /* 1 for ah, ch, dh, bh; 8 for the upper half of xmm */
	uint8_t shift;	 /* a source's value counts that many bits higher: lea's scale */
	uint16_t length; /* bytes; 0 for flags */
};

/*
 * How a result comes of its sources. What it says of a result's bits holds of the low `to.length`
 * bytes; a shorter source has zeroes above.
 */
enum insn_operation {
	/* Any bit of the result may depend on any bit of any source. */
	INSN_COMPUTE,
	/* No source counts: a constant, also where registers are named (xor %eax,%eax). */
	INSN_CONSTANT,
	/* The bits as they are. */
	INSN_COPY,
	INSN_COPY_SIGN,	    /* a shorter source's top bit fills what is above it */
	INSN_COPY_REVERSED, /* the bytes in reverse order */
	/* Bit by bit. */
	INSN_AND,
	INSN_AND_NOT, /* not source 0, and source 1 */
	INSN_OR,
	INSN_XOR, /* `not` too, with one source */
	/* A bit depends on bits of the same place and lower ones. */
	INSN_ADD,
	INSN_SUBTRACT, /* source 0 less source 1; with one source: 0 less that */
	INSN_MULTIPLY,
	/* Source 0 by as many bits as source 1 says. */
	INSN_SHIFT_LEFT,
	INSN_SHIFT_RIGHT,
	INSN_SHIFT_RIGHT_SIGN,
	INSN_ROTATE_LEFT,
	INSN_ROTATE_RIGHT,
	/* Which bit of source 0 is the first that is 1, counted from below or from above. */
	INSN_LOWEST_BIT,
	INSN_HIGHEST_BIT,
	INSN_LOW_BITS, /* as many of source 0 as source 1 says; zeroes above */
	INSN_BIT,      /* bit source 1 of source 0 goes to the carry, and may be turned */
	INSN_BIT_MADE, /* as that; what it is afterwards does not depend on what it was */
	/* Source 0, or source 1 where `condition` holds, by the flags in source 2. */
	INSN_SELECT,
	/* Element by element of `element` bytes, each of those at the same place in the sources. */
	INSN_ELEMENTS,
	/* Each element is that of source 0, or of source 1 where the top bit of source 2's is set.
	 */
	INSN_BLEND,
	/* Bytes of sources 0 and 1 in another order, as `lane` says. */
	INSN_SHUFFLE,
	/* Each byte is made of the whole element of `element` bytes that has the one `lane` names.
	 */
	INSN_CONVERT,
	/* Bit i is the top bit of element i of source 0. */
	INSN_TOP_BITS,
};

#define INSN_LANES 32u
#define INSN_LANE_ZERO 0xffu

struct insn_result {
	struct insn_place to;
	uint8_t operation; /* enum insn_operation */
	uint8_t element;   /* bytes, of INSN_ELEMENTS, INSN_CONVERT and INSN_TOP_BITS */
	/* Of INSN_ELEMENTS: how many low bytes of an element are read, and made; what is above
	 * these does not count, or is 0. 0: all. */
	uint8_t taken, made;
	/* Of INSN_ELEMENTS: those of source 0 by so many bits to the left, or, where it is
	 * negative, to the right; 0: made in another way. */
	int8_t shifted;
	bool shifts_sign;     /* the top bit fills what is above it */
	uint8_t condition;    /* of INSN_SELECT: as insn_forward_holds() takes it */
	bool clears;	      /* the bytes of the register above `to` become zero */
	bool equal;	      /* of INSN_ELEMENTS: ones where the sources are equal, else zeroes */
	bool conditional;     /* it may not be written at all (masked elements, cmpxchg) */
	uint8_t source_count; /* constants included */
	struct insn_place source[INSN_EFFECT_SOURCES];
	/* Of INSN_SHUFFLE and INSN_CONVERT, for each 32 bytes: from which byte of the same 32 of
	 * source 0, or from 32 on of source 1; INSN_LANE_ZERO: it is 0. */
	uint8_t lane[INSN_LANES];
	/* Of INSN_PLACE_CONSTANT, with its sign; of a vector that is INSN_CONSTANT: each 8 bytes.
	 */
	uint64_t constant;
};

struct insn_effect {
	struct insn insn;
	uint8_t count;
	struct insn_result result[INSN_EFFECT_RESULTS];
	/* More is written than `result` holds. */
	bool more;
	/* What says whether a conditional branch is taken (flags, or rcx), or where an indirect
	 * jump, call or return leads. Kind INSN_PLACE_NONE: nothing does. */
	struct insn_place decides;
};

/*
 * What the instruction at `bytes` makes of what. Registers that an operand's address is made of are
 * no sources: insn.operand[] names them. A flags result is of the value that its operation makes of
 * its sources, whether or not that is kept (cmp: INSN_SUBTRACT). System calls: only what the
 * instruction itself destroys. 0, or as insn_decode().
 */
int insn_effect_decode(const uint8_t *bytes, size_t available, uint64_t pc,
		       struct insn_effect *effect);

#endif
