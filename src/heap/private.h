/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Not for other folders. */
#ifndef HEAP_PRIVATE_H
#define HEAP_PRIVATE_H

#include "base/random.h"
#include "heap/operators.h"
#include "heap/pages.h"
#include "heap/remember.h"
#include "heap/rules.h"

#include <trapline/tool.h>

#define HEAP_TOLD 64u
#define HEAP_WATCHES 8 /* at a time, of all processes */

/* By which a finding was made: a member of its JSON form. */
#define STRATEGY_WATCH "watch"
#define STRATEGY_PAGE "page"
#define STRATEGY_PATTERN "pattern"
#define STRATEGY_SAMPLE "sample"
#define STRATEGY_CALL "call"

/* Which of the watches makes room first. */
enum heap_rank {
	HEAP_RANK_SPARE,    /* what else lies around a block, in slots that nobody needs */
	HEAP_RANK_BEFORE,   /* what lies before a block */
	HEAP_RANK_BLOCK,    /* what lies behind one, and freed ones */
	HEAP_RANK_EVIDENCE, /* what was misused once in another block of the context */
};

struct heap_watch {
	uint64_t cookie; /* 0: free */
	pid_t pid;
	uint64_t serial, block; /* whose */
	uint64_t address, length;
	uint64_t touched; /* by `toucher`, as the kernel told it, before the first hit; 0: not known
			   */
	pid_t toucher;
	uint64_t since; /* ns */
	enum heap_rank rank;
	const char *strategy;
};

struct heap {
	struct tl_host *host;
	const struct tl_services *services;
	bool all;			 /* budget or not */
	bool watches, samples, on_pages; /* strategies that are on */
	struct remember *remember;
	struct pages *pages; /* NULL: no process has any */
	struct heap_watch watch[HEAP_WATCHES];
	struct random random;
	uint64_t last_cookie;
	uint64_t spared; /* ns of births up to which spare slots were given out: see watches.c */
	/* Blocks of which the culprit was seen: a pattern that it has broken is not told again. */
	uint64_t told[HEAP_TOLD]; /* serials */
	unsigned tolds;
	uint64_t sampled_until; /* ns: samples before that are not looked up */
	struct operators_known operators;
	struct outside *outside; /* processes that no library of ours is in */
};

/* judge.c: the judgement of an access to a block; hidden ones are counted. */
struct heap_verdict heap_judge_access(struct heap *heap, const struct tl_guarded *block,
				      const struct tl_access *access, bool is_sample);

/* ahead.c: an aligned word loaded across the block's end, of whose bytes beyond that nothing
 * becomes, as far as could be followed. */
bool ahead_loads_too_much(const struct heap *heap, const struct tl_guarded *block,
			  const struct tl_access *access);

/* say.c */
void say_access(struct heap *heap, const struct tl_guarded *block, const struct tl_access *access,
		const struct heap_verdict *verdict, const char *strategy);
void say_call(struct heap *heap, const struct tl_guarded_news *news, enum tl_certainty certainty,
	      const char *evidence);
void say_broken(struct heap *heap, const struct tl_guarded_news *news);

/* place.c */
void place_access(const struct heap *heap, struct heap_watch *watch, struct tl_access *access);
/* Of what a system call copied: all that lies beyond the block's end, or before it, or in the freed
 * one, where the call's arguments tell it. */
void place_call(const struct heap *heap, const struct tl_guarded *block, struct tl_access *access);

/* watches.c */
void watches_birth(struct heap *heap, const struct tl_guarded_news *news);
void watches_free(struct heap *heap, const struct tl_guarded_news *news);
/* This thread is about to touch that. False: there is no slot. */
bool watches_fault(struct heap *heap, const struct tl_guarded *block,
		   const struct pages_fault *fault);
/* NULL: it is over. */
struct heap_watch *watches_find(struct heap *heap, uint64_t cookie);
void watches_end(struct heap *heap, struct heap_watch *watch);
void watches_end_process(struct heap *heap, pid_t pid);

#endif
