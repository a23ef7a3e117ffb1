/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is watched: words of 8 bytes, each with those of its bytes that nobody has written since the
 * block was allocated. And whose turn it is: over the blocks that one context allocates each word
 * of a block is watched in turn.
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
	uint64_t serial; /* of the block: a later one at the same address has another */
	uint64_t time;
	uint64_t context; /* a hash of the allocation's innermost callers and the length */
	/* The first instruction of the frame's function; then [address, address + length) is what
	 * lies below the return address. 0: it is a block of the heap. */
	uint64_t frame;
	bool yields; /* its words give way to those of new frames: it is a frame, or a block of the
			C library's own */
	/* Bytes that its process had read from storage by then, and in all; UINT64_MAX: not known,
	 * or without meaning for this block (unseen.h). */
	uint64_t read_before, received_before;
	uint64_t pcs[WORD_FRAMES];
	size_t count;
};

struct word {
	uint64_t cookie; /* 0: free */
	uint64_t address;
	uint64_t since;	    /* ns */
	uint64_t birth;	    /* how many births the tool had been told of when it was made */
	uint64_t fresh;	    /* the bits that nobody wrote */
	bool predicted;	    /* predict.h said that it will be loaded */
	bool copied;	    /* it lies outside the block and holds a copy of its bytes … */
	bool sure;	    /* … for certain */
	uint64_t block;	    /* serial of the block that the copy lies in; 0: none that is known */
	bool pending;	    /* `tid` is about to make that copy, … */
	uint64_t copied_at; /* … with that instruction; 0: with its next store there */
	/* The instruction by which its thread was predicted to load it with no system call before
	 * (predict_load.straight); 0: none, or it has been loaded since. */
	uint64_t straight;
	pid_t tid;
	/* The stores that thread `updater` is about to make there, and which bits nobody has
	 * written after each of them: with a bit-field it stores the neighbours as it has loaded
	 * them. */
	struct shadow_store update[SHADOW_STORES];
	unsigned updates;
	pid_t updater;
	/* Explanations for hits that the kernel has counted and that were not told: so many were of
	 * an instruction that tripped another word as well, which was told; and was a system call
	 * told, which may touch a word several times? */
	unsigned shared;
	bool kernel_read;
	uint64_t initial; /* what the word held at the block's birth, or since the copy was made */
	bool initial_known;
	struct origin origin;
};

struct words;

struct words *words_create(void);
void words_destroy(struct words *words);

struct word *words_find(struct words *words, uint64_t cookie);
/* The word in use that comes after `after` (NULL: the first one); NULL at the end. */
struct word *words_next(struct words *words, struct word *after);
unsigned words_count(const struct words *words, pid_t pid);
/* A word of a block that has more words watched than this one would have with one more, and two at
 * least. NULL: there is none. */
struct word *words_spare(struct words *words, const struct origin *origin);
/* The new word has a cookie of its own. NULL: WORDS_MAX are in use. */
struct word *words_add(struct words *words, const struct origin *origin, uint64_t address);
void words_remove(struct word *word);

/* How many words of this block realloc() has not filled as a whole. */
uint64_t words_fresh(const struct origin *origin);
/* Which of these is to be watched next, by its number from 0: the blocks of a context go through
 * all of them in turn. */
uint64_t words_turn(struct words *words, const struct origin *origin);
/* Notes that a block of the context is born, and returns how many were before it, as far as that is
 * remembered. */
unsigned words_birth(struct words *words, uint64_t context);

/* The bytes of the word at `address` that lie in the block and that realloc() has not filled, a bit
 * each. */
uint8_t words_within(const struct origin *origin, uint64_t address);
/* The bytes of the word that lie in [first, first + length), a bit each. */
uint8_t words_touched(const struct word *word, uint64_t first, uint64_t length);
/* The mask that has all bits of these bytes. */
uint64_t words_bits(uint8_t bytes);
/* The bytes that have any of these bits. */
uint8_t words_bytes(uint64_t bits);

/* The thread has loaded the word and is about to store to it as `found` says. */
void words_foretell(struct word *word, pid_t tid, const struct shadow_found *found);
/* The instruction at `pc` has stored to the bytes, so `fresh` loses them, but for the bits that a
 * foretold store leaves as they were. True: there are such bits. */
bool words_store(struct word *word, pid_t tid, uint64_t pc, uint8_t bytes);

#endif
