/* SPDX-License-Identifier: Apache-2.0 */
/* The expression that `trapline flow from` and `to` ask about, in the first process in which it
 * means something. */
#ifndef FLOW_EXPRESSION_H
#define FLOW_EXPRESSION_H

#include <trapline/tool.h>

#define FLOW_COPIES 64 /* threads whose copies of a thread-local variable are followed */

struct flow_copy {
	pid_t tid;
	uint64_t address;
	bool seen; /* in the look at the process' threads that is under way */
};

struct flow_expression {
	struct tl_host *host;
	const struct tl_services *services;
	const char *text;
	pid_t pid;     /* the process that is asked; 0: none yet; -1: it has ended */
	pid_t waiting; /* a process in which it may mean something later */
	unsigned ticks;
	struct tl_expression meaning;
	struct flow_copy copy[FLOW_COPIES]; /* of a thread-local variable */
	unsigned copies;
	/* Of heap:SIZE@function: the live block that is watched, or 0; and the last one that was.
	 */
	uint64_t block, last_block;
	bool later;	 /* what is unknown at the start may come with a later module or program */
	bool began;	 /* a process was looked at */
	bool refused;	 /* it means nothing, and the program was not begun for it */
	char error[512]; /* why it means nothing, so far */
};

/* Takes a piece of at most 8 bytes of the expression's memory. Length 0: the pieces that begin in
 * the 8 * FLOW_PIECES bytes from `address` on are gone, since their thread is. */
#define FLOW_PIECES 4
typedef void flow_piece_fn(void *context, pid_t pid, uint64_t address, uint64_t length);
/* The expression's block was at `from`: it is freed (`to` is 0), or another one has taken its
 * place. The thread that has freed it, or that is to have the new one, waits meanwhile. */
typedef void flow_move_fn(void *context, uint64_t from, uint64_t to);

/* `tool`: for what is said when there is none. 0 or -EINVAL. */
int flow_expression_init(struct flow_expression *expression, struct tl_host *host,
			 const struct tl_services *services, const char *tool);
/* The tool's callbacks of these names. */
void flow_expression_began(struct flow_expression *expression, pid_t pid, flow_piece_fn *piece,
			   void *context);
void flow_expression_tick(struct flow_expression *expression, flow_piece_fn *piece, void *context);
void flow_expression_born(struct flow_expression *expression, const struct tl_block *block,
			  flow_piece_fn *piece, flow_move_fn *move, void *context);
/* To be called before each hit and where a block is freed: looks whether the expression's block has
 * been freed, since notice of that may come late or not at all. */
void flow_expression_look(struct flow_expression *expression, flow_move_fn *move, void *context);
/* True once: the process that has ended is the one that was asked. */
bool flow_expression_ended(struct flow_expression *expression, pid_t pid);
/* Says why nothing was asked, if nothing was. */
void flow_expression_finish(struct flow_expression *expression);
/* The largest aligned piece at an address, of at most `length` and 8 bytes. */
unsigned flow_piece_length(uint64_t address, uint64_t length);

#endif
