/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is watched: words of 8 bytes, each with the bytes of it that nobody has written since the
 * block was allocated. And which words of a block come next: over the allocations of a context all
 * have their turn.
 */
#ifndef UNINIT_WORDS_H
#define UNINIT_WORDS_H

#include "insn/shadow.h"

#include <trapline/tool.h>

#define WORDS_MAX 64 /* of all processes */
#define WORD_LENGTH 8u
#define WORD_FRAMES 24

/* Where a block comes from. */
struct origin {
	pid_t pid, tid;
	uint64_t address, length;
	uint64_t filled; /* bytes at its start that realloc() copies there: less than `length` */
	uint64_t serial; /* of a block: another may stand at the address later */
	uint64_t time;
	uint64_t context; /* hash of the innermost callers and the length */
	/* Of a frame: its function's first instruction, and all that lies below the return address;
	 * 0: it is a block of the heap. */
	uint64_t frame;
	bool yields; /* it gives way to frames: the C library's own, or a frame */
	/* Bytes that its process had had fetched from storage by then, and those that it had read
	 * in all; UINT64_MAX: not known, or not of account (unseen.h). */
	uint64_t read_before, received_before;
	uint64_t pcs[WORD_FRAMES];
	size_t count;
};

struct word {
	uint64_t cookie; /* 0: free */
	uint64_t address;
	uint64_t since;	    /* ns */
	uint64_t birth;	    /* the number of the block it was made for, of those told of */
	uint64_t fresh;	    /* the bits that nobody wrote */
	bool predicted;	    /* it will be loaded, as far as its thread's registers told */
	bool copied;	    /* what was copied out of the block, elsewhere … */
	bool sure;	    /* … as is known for certain */
	uint64_t block;	    /* serial of the block that the copy lies in; 0: none that is known */
	bool pending;	    /* `tid` is about to make that copy, … */
	uint64_t copied_at; /* … with that instruction, or (0) its next store there */
	/* The instruction that its thread loads it by, without a system call before, as far as was
	 * foretold (predict.h); 0: that was not, or is over. */
	uint64_t straight;
	pid_t tid;
	/* What thread `updater` is about to store there, and the bits that are still nobody's
	 * behind each store: of a bit-field's word it stores the neighbours as it has loaded them.
	 */
	struct shadow_store update[SHADOW_STORES];
	unsigned updates;
	pid_t updater;
	/* Of the kernel's count of accesses beyond those that were told: so many were of an
	 * instruction that tripped another word as well; and may some be of a system call that was
	 * told, which touches a word several times? */
	unsigned shared;
	bool kernel_read;
	uint64_t initial; /* as the block's memory was at its birth */
	bool initial_known;
	struct origin origin;
};

struct words;

struct words *words_create(void);
void words_destroy(struct words *words);

struct word *words_find(struct words *words, uint64_t cookie);
/* Each in turn; NULL at the end. */
struct word *words_next(struct words *words, struct word *after);
unsigned words_count(const struct words *words, pid_t pid);
/* One of a block that has more of them watched than this block, and at least two. NULL: none. */
struct word *words_spare(struct words *words, const struct origin *origin);
/* With a cookie of its own; NULL: WORDS_MAX are in use. */
struct word *words_add(struct words *words, const struct origin *origin, uint64_t address);
void words_remove(struct word *word);

/* Words of this block of which nobody has written all. */
uint64_t words_fresh(const struct origin *origin);
/* The next of these to watch: its number, from 0. All of a context's have their turn. */
uint64_t words_turn(struct words *words, const struct origin *origin);
/* A block of the context is born: how many were before it, as far as remembered. */
unsigned words_birth(struct words *words, uint64_t context);

/* The bytes of the word at `address` that lie in the block, and that nobody has written. */
uint8_t words_within(const struct origin *origin, uint64_t address);
/* The bytes of the word that lie in [first, first + length). */
uint8_t words_touched(const struct word *word, uint64_t first, uint64_t length);
/* All bits of the bytes. */
uint64_t words_bits(uint8_t bytes);
/* The bytes that have any of the bits. */
uint8_t words_bytes(uint64_t bits);

/* The thread has loaded the word, and will store to it as it is said. */
void words_foretell(struct word *word, pid_t tid, const struct shadow_found *found);
/* The instruction at `pc` has stored to the bytes. What is nobody's still is in `fresh`. True: some
 * bits of them are, as was foretold. */
bool words_store(struct word *word, pid_t tid, uint64_t pc, uint8_t bytes);

#endif
