/* SPDX-License-Identifier: Apache-2.0 */
/* What an access at or about a guarded block is, and every rule by which one is no error. */
#ifndef HEAP_RULES_H
#define HEAP_RULES_H

#include "heap/operators.h"

#include <trapline/tool.h>

/* What was seen, as far as the rules ask. */
struct heap_access {
	uint64_t address, length, time;
	unsigned access, traits;
	bool is_own_code;    /* of the library that we preload */
	bool is_sample;	     /* of the operand that the thread was at: nothing was asked about it */
	bool is_system_call; /* the thread is right behind one */
	/* An aligned word across the block's end, of whose bytes beyond it nothing becomes. */
	bool is_too_much;
	const char *function; /* that makes it, by the file's symbols; NULL: not known */
};

enum heap_error { HEAP_NO_ERROR, HEAP_USE_AFTER_FREE, HEAP_AFTER, HEAP_BEFORE };

struct heap_verdict {
	enum heap_error kind;
	enum tl_certainty certainty;
	const char *rule; /* that hid it, for --stats; NULL: none */
};

struct heap_verdict heap_judge(const struct tl_guarded *block, const struct heap_access *access);

/* Of an access by code of the file that the allocator is in, with `inside` of `count` frames there:
 * may it be the allocator's, although none of its functions by which programs call it is on the
 * stack? `name`, `caller`: of the first two; NULL: they have none. */
bool heap_is_allocators(const char *name, const char *caller, int inside, int count);

/* A block freed by the wrong function, as the program sees it: by code of two files, that of the
 * call that made the block and that of the call that freed it. */
struct heap_mismatch {
	const char *rule; /* that hides it; NULL: none */
	enum tl_certainty certainty;
	const char *evidence; /* or NULL */
};

struct heap_mismatch heap_judge_mismatch(enum heap_operators maker, enum heap_operators freer);

#endif
