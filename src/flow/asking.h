/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose turn it is, for `flow from` and `flow to` alike: the items of a tree are asked about in
 * turns, with the slots there are. A question takes one watch on memory, for an item whose address
 * is still sought one on code as well, and perhaps others on where the value goes next; it ends
 * with its window (FLOW_WINDOW). Items that were asked about least often come first, and of these
 * the ones nearest to the expression.
 *
 * The controller's thread alone comes here.
 */
#ifndef FLOW_ASKING_H
#define FLOW_ASKING_H

#include "flow/expression.h"
#include "insn/insn.h"

#define FLOW_QUESTIONS 3 /* at a time */
#define FLOW_NO_ITEM UINT32_MAX
#define FLOW_WINDOW 100000000u /* ns of one watch */

struct flow_question {
	uint32_t item; /* FLOW_NO_ITEM: nothing is asked */
	uint64_t cookie,
		code_cookie; /* the cookies of its watches; 0: that one is over, or there is none */
	uint64_t goal_cookie;
	uint64_t far_cookie; /* of the same memory in another process that shares it */
	uint64_t deadline;   /* CLOCK_MONOTONIC, ns */
};

struct flow_item {
	uint64_t visits,
		confirmed; /* how often it was asked about, and how often that was answered */
	bool ended;	   /* it needs no question at present */
	bool longer;	   /* its watches are to take more hits (HITS_LONGER) */
	unsigned watches;  /* that a question about it takes */
};

/* What differs between the two. `state` is the tool's. */
struct flow_asker {
	/* Describes item `index`. False: there are no more. */
	bool (*item)(void *state, uint32_t index, struct flow_item *item);
	/* Arms the question's watches. False: it could not. */
	bool (*ask)(void *state, unsigned question, uint32_t item);
	/* Accesses may have passed unseen: what the question has seen last no longer holds. */
	void (*forget)(void *state, unsigned question);
	flow_piece_fn *add;
};

/* What one cookie's watch watches. */
struct flow_asked {
	uint64_t cookie, address, length;
	pid_t pid;
	unsigned access;
	unsigned unexplained; /* hits by the kernel outside of system calls */
	/* Of a watch on code: the instruction before it; length 0: not known. */
	struct insn before;
	/* Of a watch on code: a hit of data has told this thread's next hit of it already
	 * (flow_asking_hit()). */
	uint64_t ahead; /* identity; 0: none */
	struct tl_registers ahead_registers;
};

#define FLOW_PROCESSES 16 /* in which memory that is shared is looked for */
#define FLOW_ASKED 16	  /* watches remembered, by their cookie; more than there are at a time */

#define FLOW_FRAMED 64

struct flow_asking {
	struct tl_host *host;
	const struct tl_services *services;
	const struct flow_asker *asker;
	void *state;
	struct flow_expression expression;
	struct flow_question question[FLOW_QUESTIONS];
	pid_t process[FLOW_PROCESSES]; /* that are watched now */
	unsigned processes;
	uint64_t cookie; /* of the last watch */
	/* Places at which frames of signals lie (flow_asking_is_framed()), the oldest overwritten
	 * first. */
	uint64_t framed[FLOW_FRAMED];
	unsigned frames;
	bool put_off; /* the budget kept the last watch from being armed */
	bool longer;  /* the next watches take more hits, since much comes by that does not count */
	struct flow_asked asked[FLOW_ASKED];
	/* A hit of code was seen right behind one of data, so this machine reports both. */
	bool separate;
};

/* 0 or -errno. `name` is the tool's. */
int flow_asking_init(struct flow_asking *asking, const char *name);
void flow_asking_finish(struct flow_asking *asking);

/* Arms a watch, in the asker's `ask`. Returns its cookie; 0: it could not be armed. */
uint64_t flow_asking_arm(struct flow_asking *asking, pid_t pid, uint64_t address, uint64_t length,
			 unsigned access);
/* Is the place watched without the kernel's accesses, since frames of signals lie there? */
bool flow_asking_is_framed(const struct flow_asking *asking, uint64_t address);
/* Watches stores to the place in another process that shares it by a mapping at the same address,
 * if there is one; `turn` chooses among several. The cookie, or 0. */
uint64_t flow_asking_arm_far(struct flow_asking *asking, pid_t pid, uint64_t address,
			     uint64_t length, uint64_t turn);
/* The tools' callbacks of these names. */
void flow_asking_began(struct flow_asking *asking, pid_t pid);
/* Disarms the question's watches. */
void flow_asking_stop(struct flow_asking *asking, struct flow_question *question);

/* The number of the question that the access answers; -1: none. */
int flow_asking_find(const struct flow_asking *asking, const struct tl_access *access);

/* Is it the cookie of a watch for being executed? */
bool flow_asking_is_code(const struct flow_asking *asking, uint64_t cookie);

/* Is the kernel known to have made the access, though perhaps not whether it read or wrote? Not
 * where nothing explains the trap. */
static inline bool flow_is_kernel(const struct tl_access *access)
{
	return access->access & TL_KERNEL && !(access->traits & TL_TRAIT_UNEXPLAINED);
}

typedef void flow_hit_fn(void *state, const struct tl_access *access);

/*
 * The tool's callback of a hit. Calls `hit` with it and with what else the same instruction did to
 * watched memory, reads before writes: of the two signals of an instruction that touches the bytes
 * of two watches, as `push global` does, only the first arrives. If that first one is of a watch
 * that has had all its hits and is not disarmed yet, neither is told. Nor are accesses to a watch
 * that has ended, while other watches of its question are still hit. In both cases, until the tool
 * is told of the watch's end, no question's hits count (`others_ended` of struct tl_access) except
 * the last ones of that watch itself.
 *
 * The same holds for an access and the code right behind it, where both are watched: some
 * processors report both at one time (Intel SDM volume 3, 17.3.1), others one after the other. So a
 * hit of data tells the hit of the code with it, and that one is not told again. Where the hit of
 * the code came alone, an access by the instruction before it may be missing, and what was seen
 * last there is forgotten.
 */
void flow_asking_hit(struct flow_asking *asking, const struct tl_access *access, flow_hit_fn *hit);

/* Asks at once about an item whose place is used for a short while only, in place of other
 * questions. True: it was its turn, and it is asked about. (blocks.c) */
bool flow_asking_now(struct flow_asking *asking, uint32_t item);

/* The tool's other callbacks. */
void flow_asking_tick(struct flow_asking *asking);
void flow_asking_unwatched(struct flow_asking *asking, const struct tl_watch *watch);
/* True: it was the process asked about, and all questions are over. */
bool flow_asking_ended(struct flow_asking *asking, pid_t pid);

#endif
