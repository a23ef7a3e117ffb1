/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which words of a new frame or block a thread will load before it has stored to them, and which
 * functions it comes to on the way. The thread is held at a function's first instruction, or in the
 * allocator before that returns; its instructions are carried out on a copy of its registers. That
 * is a guess, which only chooses what is watched: nothing is reported by it. Memory is read through
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
	uint64_t address; /* of the first byte that is loaded with no store to it before */
	bool handed; /* its address is handed to a function that is not looked into and may load it
		      */
	bool presumed; /* such a function was handed it before, and may have stored to it */
	bool beyond;   /* the load comes behind the function's return, in the frame of one that is
			  called later */
	/* The instruction that loads it, where the thread comes to it with no branch of unknown
	 * direction, no system call, and no function that may make one before. Else 0: the kernel
	 * may write there on the way. */
	uint64_t straight;
};

/* A word to be watched, with `straight` of its first load. */
struct predict_word {
	uint64_t address, straight;
};

struct predict_call {
	uint64_t pc; /* the function's first instruction, or … */
	bool before; /* … a call through a pointer, which may still lead to another function */
};

struct predict_outside {
	/* Bytes above its return address that it takes off the stack as it returns: the dynamic
	 * linker's function that binds another one at its first call is entered with some. */
	unsigned discards;
	uint64_t
		writes; /* bytes that it writes from its first argument on; 0: none, or not known */
	uint64_t reads; /* bytes that it copies from its second argument on; 0: not known */
	/* What it sends or writes out, wherever that lies in memory. */
	struct sent_part sent[PREDICT_SENT];
	unsigned parts;
	bool gives_back; /* it frees its first argument, and touches nothing else */
	bool known;	 /* it returns `value` */
	uint64_t value;
};

/* One way that the thread may take. */
struct predict_way {
	struct insn_forward forward;
	uint8_t written[PREDICT_BYTES /
			8]; /* a bit for each byte that is looked at: it is stored to on this way */
	uint8_t presumed[PREDICT_BYTES /
			 8]; /* the same: a function that was handed it may have stored to it */
	bool unsure;	     /* behind a branch whose direction is not known */
	uint64_t entry;	     /* where the function begins that was called last; 0: not known */
	bool served;	     /* behind a system call, or a function that may have made one */
	bool beyond;	     /* behind the return of the function that was entered */
};

struct predict {
	/* The caller's. */
	int (*read)(void *context, uint64_t address, void *to, size_t length);
	size_t (*code)(void *context, uint64_t pc, uint8_t *bytes, size_t max);
	/* Is the function that is being entered one that is not looked into, such as the C
	 * library's? Then `outside` receives what it does. */
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

	/* The state of the prediction; large, need not be set. */
	uint64_t
		top; /* the stack pointer at entry: to a function it points to the return address */
	uint64_t low, length; /* the bytes that are looked at, at most PREDICT_BYTES, … */
	uint64_t filled;      /* … of which so many are written at the start */
	bool block;
	unsigned forks;
	struct predict_way way, fork[PREDICT_FORKS];
};

/* The `number`th of the loads, in the order of how much they tell; NULL: there are no more. Words
 * of the function's own frame come before those of functions that are called behind its return,
 * which are looked at when they are entered. Within each, first come words that the thread loads
 * itself, then those that it loads after another function may have written them, then those that it
 * hands to another function. */
const struct predict_load *predict_best(const struct predict *predict, unsigned number);

/* For struct insn_forward. */
void predict_tell_nobody(void *context, const struct insn_forward_access *access);

/* For a thread at a function's first instruction: fills `load` and `call`. */
void predict(struct predict *predict, const struct tl_registers *registers);

struct predict_block {
	uint64_t address, length;
	uint64_t filled; /* bytes at its start that realloc() writes */
};

/* The same for a thread to which the allocator is about to return the block. `known`: which general
 * registers are known, a bit each. */
void predict_block(struct predict *predict, const struct tl_registers *registers, uint16_t known,
		   const struct predict_block *block);

#endif
