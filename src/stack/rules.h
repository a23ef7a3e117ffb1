/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule that hides an access, and how certain the rest is. Pure functions; no other file
 * decides either. */
#ifndef STACK_RULES_H
#define STACK_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <trapline/tool.h>

#define RULES_THREAD_DATA                                                                    \
	16384		   /* bytes between a thread's first frame and its own data, at most \
			    */
#define RULES_RED_ZONE 128 /* bytes below its stack pointer that a leaf function may use (ABI) */
#define RULES_EVIDENCE 4

/* What is written, where a copy of memory makes the write. */
enum copied {
	COPIED_OTHER,
	COPIED_STACK,
	/* The source was read when the writing thread was not held any more, and may have been
	   filled anew by then. */
	COPIED_UNKNOWN
};

/* An access to what may be a frame that is gone. */
struct rules_use {
	uint64_t address;
	/* The access. */
	bool guessed;
	bool implicit;	    /* push, pop, call, ret, or by the kernel as it delivers a signal */
	bool frame_based;   /* its address is the stack pointer's at entry plus a constant */
	bool library;	    /* code of the C library that runs when a thread begins or ends */
	enum copied copied; /* is what is written frames? copied_what() */
	/* The stack's owner, at the time of the access. */
	bool own;	    /* the owner itself makes the access */
	bool pointer_known; /* its stack pointer is known: `pointer` */
	uint64_t pointer;
	bool verified;	/* its frames lead up to the beginning of its own stack */
	bool ended;	/* the thread is gone */
	bool inherited; /* the address lies in the stack that the accessing thread has now */
	/* The function that makes the access, where its code is known. */
	/* No pointer leads to what it keeps below its stack pointer: it calls others and keeps
	 * nothing there, or it takes no address in its frame. */
	bool keeps_nothing;
	bool entry_known;
	uint64_t entry;	     /* the stack pointer at its entry */
	bool argument_known; /* the address comes from an argument, which was `argument` */
	uint64_t argument;
	/* Where the pointer came from. */
	bool kept;   /* memory that has held it since its frame returned */
	bool result; /* what the frame's function returned, and nothing else: foretold */
	/* The way from there to the access was guessed, so the pointer may also be one to a local
	 * of a live frame at that address. */
	bool doubtful;
	bool seen_returning; /* the frame was seen returning; where the pointer came from is not
				known */
};

/* A write to a slot of a live frame that only its function's prologue writes. */
struct rules_overwrite {
	bool guessed;
	bool implicit;	    /* push or call */
	bool prologue;	    /* the very instruction that sets the slot */
	bool same_value;    /* the slot holds what it held before */
	bool live;	    /* unwinding shows that the frame was there at the time of the access */
	bool library;	    /* code whose purpose it is to change return addresses: the unwinder,
			       longjmp() */
	enum copied copied; /* is what is written frames? copied_what() */
};

struct rules_verdict {
	bool hidden;
	const char *rule; /* that hid it: the name of a count */
	enum tl_certainty certainty;
	const char *evidence[RULES_EVIDENCE];
	unsigned evidence_count;
};

void rules_judge_use(const struct rules_use *use, struct rules_verdict *verdict);
void rules_judge_overwrite(const struct rules_overwrite *overwrite, struct rules_verdict *verdict);

/* Does a thread's access to its own stack lie below its stack pointer, by these registers alone, so
 * that its frames are worth unwinding? */
bool rules_is_below(uint64_t address, uint64_t pointer);

/* Do the frames lead from the stack pointer up to where the thread's stack begins, without a change
 * of stacks on the way? */
struct rules_base {
	uint64_t mapping_start, mapping_end; /* around the stack pointer */
	bool main;			     /* the first thread */
	uint64_t start;			     /* of its stack, as the kernel set it up */
	uint64_t fs_base; /* of the others: C libraries keep a thread's data at the top of its stack
			   */
	bool has_data;	  /* it is there: owner_has_data() */
	bool guarded;	  /* of the others: space_guarded() */
};
bool rules_is_whole(const struct tl_frame_place *frames, int count, uint64_t pointer,
		    const struct rules_base *base);

#endif
