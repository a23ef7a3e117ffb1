/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread will do that is about to execute a function's first instruction, or to return from
 * the allocator, as far as its registers and memory tell: which words of the frame, or of the
 * block, it loads before it has stored to them, and which functions it comes to on the way. A
 * guess, by which it is chosen what is watched: nothing is reported by it. Memory is read through
 * callbacks; nothing here allocates or blocks.
 */
#ifndef UNINIT_PREDICT_H
#define UNINIT_PREDICT_H

#include "insn/forward.h"
#include "uninit/sent.h"

#include <trapline/tool.h>

#define PREDICT_FRAME 4096u	    /* bytes below the stack pointer that are looked at */
#define PREDICT_BYTES PREDICT_FRAME /* of a block, from its first one on */
#define PREDICT_LOADS 8
#define PREDICT_CALLS 32
#define PREDICT_FORKS 4
#define PREDICT_SENT 8 /* parts of what a call sends that are looked at */

struct predict_load {
	uint64_t address; /* of the first byte that nobody stores to before */
	bool handed;	  /* it is handed to a function that is not looked into */
	bool presumed;	  /* such a function may have stored to it before */
	bool beyond; /* behind the function's return: in the frame of one that is called later */
	/* The instruction that loads it, where the thread comes straight there: behind no branch
	 * whose direction is not known, no system call, and no function that may make one. Else 0:
	 * what the kernel writes on the way is not known. */
	uint64_t straight;
};

/* A word that is chosen to be watched, with `straight` of its first load. */
struct predict_word {
	uint64_t address, straight;
};

struct predict_call {
	uint64_t pc; /* the function's first instruction, or … */
	bool before; /* … the call through a pointer: which function it leads to is not sure yet */
};

struct predict_outside {
	/* Bytes of the stack that it is entered with above its return address, as the dynamic
	 * linker's function is that binds another one at its first call. */
	unsigned discards;
	uint64_t writes; /* bytes from its first argument on; 0: none, or not known */
	uint64_t reads;	 /* bytes from its second argument on, which it copies; 0: not known */
	/* What it passes to the outside, wherever that lies. */
	struct sent_part sent[PREDICT_SENT];
	unsigned parts;
	bool gives_back; /* its first argument to the allocator, and touches nothing else */
	bool known;	 /* it returns `value` */
	uint64_t value;
};

/* One way that the thread may take. */
struct predict_way {
	struct insn_forward forward;
	uint8_t written[PREDICT_BYTES / 8];  /* a bit for each byte of what is looked at */
	uint8_t presumed[PREDICT_BYTES / 8]; /* a function that was handed it may have */
	bool unsure;			     /* behind a branch whose direction is not known */
	uint64_t entry; /* where the function begins that it was called into last; 0: not known */
	bool served;	/* behind a system call, or a function that may have made one */
	bool beyond;	/* behind the return of the function that was entered */
};

struct predict {
	/* The caller's. */
	int (*read)(void *context, uint64_t address, void *to, size_t length);
	size_t (*code)(void *context, uint64_t pc, uint8_t *bytes, size_t max);
	/* Is the function that is being entered not to be looked into, as those of the C library?
	 */
	bool (*outside)(void *context, const struct insn_forward *forward,
			struct predict_outside *outside);
	/* Is it the first instruction of a function that is looked into? */
	bool (*function)(void *context, uint64_t pc);
	void *context;
	unsigned steps; /* at most so many instructions */

	/* What was found, in the order that the thread comes to it. */
	struct predict_load load[PREDICT_LOADS];
	unsigned loads;
	struct predict_call call[PREDICT_CALLS]; /* of functions that are looked into */
	unsigned calls;

	/* State: large, need not be set. */
	uint64_t
		top; /* the stack pointer at entry: to a function it points to the return address */
	uint64_t low, length; /* what is looked at: at most PREDICT_BYTES, … */
	uint64_t filled;      /* … of which so many are written at the start */
	bool block;
	unsigned forks;
	struct predict_way way, fork[PREDICT_FORKS];
};

/* The `number`th of the loads in the order of how much they tell; NULL: there are no more. What the
 * thread loads itself comes before what it hands to others, who may write it, and between them what
 * it loads that others may have written; and the function's own frame before those of functions
 * that are called behind its return, which are looked at when they are entered. */
const struct predict_load *predict_best(const struct predict *predict, unsigned number);

/* For struct insn_forward. */
void predict_tell_nobody(void *context, const struct insn_forward_access *access);

/* A function is being entered. */
void predict(struct predict *predict, const struct tl_registers *registers);

struct predict_block {
	uint64_t address, length;
	uint64_t filled; /* bytes at its start that realloc() writes */
};

/* The allocator is about to return the block. `known`: which general registers are, a bit each. */
void predict_block(struct predict *predict, const struct tl_registers *registers, uint16_t known,
		   const struct predict_block *block);

#endif
