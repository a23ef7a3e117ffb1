/* SPDX-License-Identifier: Apache-2.0 */
/* What is hidden, and how sure the rest is: pure functions, one place for every such decision. */
#ifndef STACK_RULES_H
#define STACK_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <trapline/tool.h>

#define RULES_THREAD_DATA 16384 /* bytes behind a thread's first frame, at most */
#define RULES_RED_ZONE 128 /* bytes below its stack pointer that a leaf function may use (ABI) */
#define RULES_EVIDENCE 4

/* What a write puts there, which is made by a copy. */
enum copied {
	COPIED_OTHER,
	COPIED_STACK,
	/* By now the source may have other contents than those that were copied: its thread, which
	 * was not held any more when it was read, runs on and may have filled it anew. */
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
	bool own;	    /* it makes the access itself */
	bool pointer_known; /* its stack pointer is */
	uint64_t pointer;
	bool verified;	/* its frames lead to the beginning of a thread's own stack */
	bool ended;	/* the thread is gone */
	bool inherited; /* the address lies in the stack that the accessing thread has now */
	/* The function that makes the access, where it is followed. */
	/* It keeps nothing below its stack pointer that a pointer leads to: it calls others, or it
	 * takes no address in its frame. */
	bool keeps_nothing;
	bool entry_known;
	uint64_t entry;	     /* the stack pointer at its entry */
	bool argument_known; /* the address comes from an argument, which was `argument` */
	uint64_t argument;
	/* Where the pointer came from. */
	bool kept;   /* memory that has held it since its frame returned */
	bool result; /* what the frame's function returned, and nothing else: foretold */
	/* Or from elsewhere: the way from there to the access was guessed, and a local of a frame
	 * that is there may have the address. */
	bool doubtful;
	bool seen_returning; /* the return of the frame was seen, and nothing is known since */
};

/* A write to a slot of a live frame that its function's entry alone writes. */
struct rules_overwrite {
	bool guessed;
	bool implicit;	 /* push or call */
	bool prologue;	 /* the very instruction that sets the slot */
	bool same_value; /* nothing changed */
	bool live;	 /* the frame was there at the time of the access, by its unwinding */
	bool library; /* code that changes return addresses for a living: the unwinder, longjmp */
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

/* Is it worth asking for a stack, an access of a thread to its own stack by these registers alone?
 */
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
