/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes around guarded blocks the hardware's slots watch, and which watch makes room for
 * another. */
#ifndef HEAP_WATCHES_H
#define HEAP_WATCHES_H

#include "heap/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <trapline/tool.h>

#define HEAP_WATCHES 8 /* at a time, of all processes */

struct heap;

/* Which of the watches makes room first: the lowest. */
enum heap_rank {
	HEAP_RANK_SPARE,    /* what else lies around a block, in slots that nobody needs */
	HEAP_RANK_BEFORE,   /* what lies before a block */
	HEAP_RANK_BLOCK,    /* what lies behind one, and freed ones */
	HEAP_RANK_EVIDENCE, /* what was misused once in another block of the context */
};

struct heap_watch {
	uint64_t cookie; /* 0: this entry is free */
	pid_t pid;
	uint64_t serial, block;	  /* of the block that it is for: its serial and its address */
	uint64_t address, length; /* what is watched */
	/* The first byte that `toucher` is about to access, as the kernel told it before the first
	 * hit; 0: it is not known. */
	uint64_t touched;
	pid_t toucher;
	uint64_t since; /* when it was armed, ns */
	enum heap_rank rank;
	const char *strategy; /* by which a finding of it is made (say.h) */
};

/* A block was born, or freed: its bytes are watched as far as slots go. */
void watches_birth(struct heap *heap, const struct tl_guarded_news *news);
void watches_free(struct heap *heap, const struct tl_guarded_news *news);
/* Watches what a thread is about to touch on an empty page. False: there is no slot. */
bool watches_fault(struct heap *heap, const struct tl_guarded *block,
		   const struct pages_fault *fault);
/* The watch with this cookie; NULL: it has ended. */
struct heap_watch *watches_find(struct heap *heap, uint64_t cookie);
void watches_end(struct heap *heap, struct heap_watch *watch);
void watches_end_process(struct heap *heap, pid_t pid);

#endif
