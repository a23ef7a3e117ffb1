/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every rule that hides a read of what nobody wrote, or says how sure it is. Nothing else in the
 * tool does either (suppressions are the user's).
 */
#ifndef UNINIT_RULES_H
#define UNINIT_RULES_H

#include "insn/shadow.h"

#include <trapline/tool.h>

#define RULES_EVIDENCE 4

/* Where the load was made: the instruction's function and those of its callers, innermost first. */
struct rules_place {
	const struct tl_frame *frames;
	int count;
};

struct rules_load {
	const struct tl_access *access;
	struct rules_place place;
	const struct shadow_found *found; /* what became of the value; NULL: it was not followed */
	bool changed; /* the bytes are not what they were when the block was allocated */
	bool unheld;  /* a thread went on before it was answered: more may have been written */
	bool gone;    /* its frame is not live, or it is another's by now */
	bool popped;  /* into a register, from a frame */
	bool copied;  /* it is not the block itself, but what was copied out of it, … */
	bool sure;    /* … as is known for certain, and the memory is still the same */
	const char *unseen; /* by whom it may have been written unseen; NULL: by nobody */
};

struct rules_verdict {
	const char *hidden; /* which rule hid it: a name for --stats; or NULL */
	bool over;	    /* the block is the program's no more: its watches end */
	bool again;	    /* what is watched stays as it was: later loads may tell more */
	enum tl_certainty certainty;
	const char *evidence[RULES_EVIDENCE];
	unsigned evidence_count;
};

/* Of what is known before the value is followed: `found` does not count. */
void uninit_admit(const struct rules_load *load, struct rules_verdict *verdict);
/* Of all. */
void uninit_judge(const struct rules_load *load, struct rules_verdict *verdict);

/* What a function is to the walk of a value, by its file and its name (or NULL). */
enum shadow_function uninit_function(const char *module, const char *function);

/* Of a function of the C library that writes from its first argument on as many elements as its
 * third one says: bytes of an element; of others 0. */
unsigned uninit_writes_third(const char *function);

/* Is that one value, which comes from no memory? */
bool uninit_sets_third(const char *function);

/* Is it free() or its like? */
bool uninit_gives_back(const char *function);

/* Does it return a new block, and change nothing that the program has? */
bool uninit_makes_block(const char *function);

/* Does it end the process with the status that it is handed? */
bool uninit_ends_with(const char *function);

/* Do rules go by the names of the file's functions? */
bool uninit_has_names(const char *module);

/* The C library and the dynamic linker, by path. */
bool uninit_is_library(const char *module);

#endif
