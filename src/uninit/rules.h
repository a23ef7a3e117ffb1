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

/* The functions in which the load was made, innermost first. */
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
	bool gone; /* the frame is not live any more, or its memory belongs to another one by now */
	bool popped;	    /* the load is a pop, and the word lies in a frame */
	bool copied;	    /* it was loaded from a copy of the block's bytes elsewhere, … */
	bool sure;	    /* … which was certainly made, in memory that still holds it */
	const char *unseen; /* by whom it may have been written unseen; NULL: by nobody */
};

struct rules_verdict {
	const char *hidden; /* which rule hid it: a name for --stats; or NULL */
	bool over;  /* the watches of this block or frame end: it is no longer the program's, or its
		       bytes are no longer nobody's */
	bool again; /* the word stays watched: a later load may tell more */
	enum tl_certainty certainty;
	const char *evidence[RULES_EVIDENCE];
	unsigned evidence_count;
};

/* The verdict on what is known before the value is followed; `found` is not looked at. */
void uninit_admit(const struct rules_load *load, struct rules_verdict *verdict);
/* The verdict on all. */
void uninit_judge(const struct rules_load *load, struct rules_verdict *verdict);

/* Whether the walk of a value follows a function or answers for it, by its file and its name (or
 * NULL). */
enum shadow_function uninit_function(const char *module, const char *function);

/* The bytes of one element, where this function of the C library writes from its first argument on
 * as many elements as its third argument says; 0: it does not. */
unsigned uninit_writes_third(const char *function);

/* Does that function write one value everywhere, as memset() does, and read no memory? */
bool uninit_sets_third(const char *function);

/* Is it free() or its like? */
bool uninit_gives_back(const char *function);

/* Does it return a new block, and change nothing that the program has? */
bool uninit_makes_block(const char *function);

/* Does it end the process with the status that it is handed? */
bool uninit_ends_with(const char *function);

/* Do some rules go by the names of functions of this file? */
bool uninit_has_names(const char *module);

/* The C library and the dynamic linker, by path. */
bool uninit_is_library(const char *module);

#endif
