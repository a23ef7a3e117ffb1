/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a value that a thread has loaded: its instructions are carried out on a copy of
 * its registers (insn/forward.h), and beside each register and byte of memory goes a shadow, a bit
 * for each bit, that says whether it depends on the value. Seward and Nethercote (Memcheck, USENIX
 * 2005) keep such shadows for a whole program; here they begin with a few bytes and end with a
 * bounded number of instructions. Nothing here allocates, blocks or faults.
 */
#ifndef INSN_SHADOW_H
#define INSN_SHADOW_H

#include "insn/effect.h"
#include "insn/forward.h"

#define SHADOW_LINE 64u
#define SHADOW_LINES 48 /* of memory that hold a shadow */
#define SHADOW_VECTORS 32
#define SHADOW_FORKS 6 /* branches of unknown direction that both sides of are followed */
#define SHADOW_RANGES 8
#define SHADOW_STORES 4 /* to where the value was loaded, that are remembered */
/* Addresses of nothing, that a walk is told of blocks which are yet to be allocated: between what
 * programs are linked to, or load at random, and the stack. Nobody can read there. */
#define SHADOW_NOWHERE 0x200000000000ull
#define SHADOW_NOWHERE_LENGTH 0x10000000ull
#define SHADOW_STORED 16 /* stores of a walk that are remembered, the last ones */
#define SHADOW_OWN 8u	 /* bytes of it that are looked at for these */

/* Of a comparison, though each flag may depend on it. */
#define SHADOW_BELOW_EQUAL 1u
#define SHADOW_LESS 2u
#define SHADOW_LESS_EQUAL 4u

struct shadow_line {
	uint64_t address; /* 0: free */
	uint8_t bits[SHADOW_LINE];
};

/* What vector registers hold, as far as it was loaded or made on the way. */
struct shadow_vectors {
	uint8_t byte[SHADOW_VECTORS][SHADOW_LINE];
	uint64_t known[SHADOW_VECTORS]; /* a bit each */
	/* What the last instruction has put of them into a general register (-1: into none) or
	 * into memory (bytes; 0: none). */
	int8_t general;
	uint64_t bits;
	uint8_t stored;
	uint64_t to;
	uint8_t value[SHADOW_LINE];
};

struct shadow {
	uint64_t general[INSN_GENERAL];
	uint64_t mask[8];
	uint8_t vector[SHADOW_VECTORS][SHADOW_LINE];
	uint32_t vectors; /* which have any, a bit each */
	uint8_t flags;	  /* INSN_FLAG_… */
	uint8_t settled; /* conditions of several flags that do not depend on the value: SHADOW_… */
	/* The dependence was assumed of some instruction, not known bit by bit. */
	uint16_t vague_general;
	uint32_t vague_vectors;
	uint16_t mixed_general; /* what depends on it has been through arithmetic */
	bool vague_flags, vague_memory;
	bool certain_memory; /* something was stored, not on the stack, whose dependence is known */
	/* More memory depends on the value than there are lines for, or a register that has no
	 * shadow (x87, MMX). */
	bool lost;
	struct shadow_line line[SHADOW_LINES];
};

/* ------------------------------------------------------------------------------------------- */
/* Memory's shadow: `bits` has `length` bytes. */

void shadow_read(const struct shadow *shadow, uint64_t address, uint8_t *bits, size_t length);
void shadow_write(struct shadow *shadow, uint64_t address, const uint8_t *bits, size_t length);
void shadow_fill(struct shadow *shadow, uint64_t address, uint8_t bits, size_t length);
/* The first bytes from `address` on that have a shadow; false: none of `length` has. */
bool shadow_find(const struct shadow *shadow, uint64_t address, uint64_t length, uint64_t *first,
		 uint64_t *found);

/* ------------------------------------------------------------------------------------------- */
/* One instruction */

/* Where its memory operands are. */
struct shadow_operands {
	uint64_t address[INSN_MAX_OPERANDS];
	bool known[INSN_MAX_OPERANDS];
};

/* The shadows after an instruction, from those before it. `forward`: values before it. `vectors`:
 * also those after it. */
void shadow_apply(struct shadow *shadow, const struct insn_effect *effect,
		  const struct shadow_operands *operands, const struct insn_forward *forward,
		  struct shadow_vectors *vectors);

/* Has the place any, and is it vague? */
bool shadow_of_place(const struct shadow *shadow, const struct insn_place *place,
		     const struct shadow_operands *operands, bool *vague);

/* ------------------------------------------------------------------------------------------- */
/* A walk */

enum shadow_sink {
	SHADOW_SINK_NONE,
	SHADOW_SINK_BRANCH,   /* a conditional branch's direction */
	SHADOW_SINK_TARGET,   /* where a jump, call or return leads */
	SHADOW_SINK_ADDRESS,  /* of memory: its base … */
	SHADOW_SINK_INDEX,    /* … or its index */
	SHADOW_SINK_ARGUMENT, /* of a system call */
	SHADOW_SINK_SENT,     /* bytes that a system call passes to the outside */
};

/* What is to be done with a function that a call leads to. */
enum shadow_function {
	SHADOW_FOLLOW,
	/* It loads more than it is asked about: `struct shadow_answer` says what it does. */
	SHADOW_SKIP,
	/* It is a detour to another one, which `struct shadow_answer` names. */
	SHADOW_DETOUR,
	/* It ends the program: whoever comes there is of no account, unless the status that it ends
	 * with depends on the value. */
	SHADOW_DIES,
	/* Nothing behind it belongs to the question: memory is given back. */
	SHADOW_END,
};

struct shadow_answer {
	bool depends; /* what it returns, or ends the program with, depends on the value … */
	bool vague;   /* … as far as it had to be assumed */
	bool known;   /* it returns `value` */
	uint64_t value;
	/* It returns, and changes nothing of the program's but what follows; what it prints is seen
	 * outside. */
	bool prints;
	/* It copies `length` bytes from `from` (0: it sets them, to a value of its own) to `to`. */
	uint64_t to, from, length;
	unsigned arguments; /* that it takes in general registers, at most; 0: not known */
	uint64_t target;    /* of a detour: the function … */
	unsigned discards;  /* … which is entered with so many bytes less on the stack */
};

struct shadow_range {
	uint64_t address, length;
};

/* A store to the bytes that were loaded, which the thread comes to for certain: which bits of the
 * first SHADOW_OWN depend on the value from then on. */
struct shadow_store {
	uint64_t pc, bits;
};

struct shadow_found {
	uint8_t sink; /* enum shadow_sink */
	uint64_t pc;
	unsigned argument;	   /* of a system call, from 0; 6: its number */
	uint64_t call;		   /* the system call's number, of ARGUMENT and SENT */
	struct shadow_range bytes; /* that are sent */
	/* The thread comes there on the way that its registers and memory tell, or all ways that it
	 * may take come to such a place. Else it may take another way. */
	bool certain;
	bool vague;
	unsigned alike; /* branches that depend on the value, but both ways of which end alike */
	unsigned steps;
	/* Memory that held a copy when the walk ended, but for the value's own. */
	struct shadow_range copy[SHADOW_RANGES];
	uint64_t
		copied_at[SHADOW_RANGES]; /* the last instruction that stored there; 0: not known */
	/* That instruction is known, the thread comes to it for certain, and all bits of what it
	 * stores depend on the value. */
	bool copied_surely[SHADOW_RANGES];
	unsigned copies;
	/* In the thread's order, from the load on. There may be more behind them. */
	struct shadow_store store[SHADOW_STORES];
	unsigned stores;
};

struct shadow_state {
	struct insn_forward forward;
	struct shadow shadow;
	struct shadow_vectors vectors;
	bool late; /* behind a system call or a function that was skipped: memory may be another */
	/* Registers that were written, a bit each; vectors but for constants. */
	uint16_t changed_general;
	uint32_t changed_vectors;
};

#define SHADOW_MEET_STEPS 160 /* of each way behind a branch */
#define SHADOW_MEET_WAYS 8
#define SHADOW_MEET_CHOICES 8 /* branches of one way whose direction is not known */

struct shadow_way {
	uint8_t choice[SHADOW_MEET_CHOICES]; /* 1: not the thread's own direction */
	unsigned chosen;		     /* those before have other ways already */
};

/* Whether the ways behind a branch end alike (shadow_meet.c). */
struct shadow_meeting {
	struct shadow_way way[SHADOW_MEET_WAYS];
	unsigned ways;
	/* Where the first way goes, step by step, and when the others come there: 0: never. */
	struct shadow_point {
		uint64_t pc, stack;
	} point[SHADOW_MEET_STEPS];
	unsigned points;
	uint16_t at[SHADOW_MEET_WAYS][SHADOW_MEET_STEPS];
	struct shadow difference;
	struct shadow_state first, other;
};

/* A store of the value, or of what was made of it. */
struct shadow_stored {
	uint64_t pc, address, length;
};

struct shadow_walk {
	/* The caller's. Memory as it is, code, and what functions are for: `context`. */
	int (*read)(void *context, uint64_t address, void *to, size_t length);
	size_t (*code)(void *context, uint64_t pc, uint8_t *bytes, size_t max);
	/* `state`: at the function's first instruction. */
	enum shadow_function (*function)(void *context, const struct shadow_state *state,
					 struct shadow_answer *answer);
	void *context;
	unsigned steps; /* at most so many instructions */
	bool compare;	/* a branch both ways of which end alike is no sink */
	/* State: large, need not be set. */
	struct shadow_state state, fork[SHADOW_FORKS];
	struct shadow_meeting meeting;
	struct shadow_stored stored[SHADOW_STORED];
};

/* A load that has been made. */
struct shadow_load {
	uint64_t pc; /* the instruction */
	/* The bytes in question, before it. */
	uint64_t address;
	const uint8_t *bits;
	size_t length;
	uint64_t accessed; /* the first byte that the instruction loaded */
	/* After it. */
	const struct insn_registers *after;
	uint16_t known; /* which general registers are */
	/* What was taken counts, and not what stands there still: a store to there is a copy. */
	bool taken;
	/* General registers that it overwrote, as they were before, where `recovered` has a bit. */
	const uint64_t *before;
	uint16_t recovered;
};

/* Follows what `load` has loaded. 0, or why it cannot: -EILSEQ, -ENODATA. */
int shadow_follow(struct shadow_walk *walk, const struct shadow_load *load,
		  struct shadow_found *found);

#endif
