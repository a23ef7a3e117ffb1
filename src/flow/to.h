/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `trapline flow to`. Not for other folders. */
#ifndef FLOW_TO_H
#define FLOW_TO_H

#include "flow/asking.h"
#include "flow/goal_tree.h"
#include "flow/onward.h"

/* Of the value at a spot: of its bytes from `first` on. */
struct flow_told_bytes {
	uint64_t bytes, first, length; /* length: at most 8; 0: not known */
};

/* What a question watches besides the spot, and the one above. */
enum flow_to_third {
	FLOW_TO_NOTHING,
	FLOW_TO_ORIGIN, /* above both, as values of others pass through the spot above */
	FLOW_TO_LOAD,	/* the code of the load, which may load from elsewhere and store here */
	FLOW_TO_STORE,	/* the code of the store, which may store this value elsewhere */
};

/* What the hits of a question have told so far. */
struct flow_told_onward {
	uint32_t origin, below; /* as flow_goals_origin(); FLOW_NONE: the spot is asked by itself */
	bool alone, through;	/* through: the origin is not the spot above */
	bool together;		/* the spot above is the same memory, with one watch */
	bool copies;		/* the value goes unchanged from the origin to the spot above */
	bool any;		/* any store to the origin counts, whoever makes it */
	enum flow_to_third third;
	uint64_t since; /* when all its watches were armed; CLOCK_MONOTONIC, ns */
	struct flow_onward onward;
	struct flow_told_bytes held;		  /* what the last store left at the spot itself */
	struct flow_told_bytes read, origin_read; /* what was loaded last at the spot above, … */
	uint64_t copier;    /* identity of the thread whose call of copying was the last; 0: none */
	uint64_t copied_to; /* where it puts the first byte of the spot above */
};

struct flow_to {
	struct tl_host *host;
	const struct tl_services *services;
	struct flow_asking asking;
	struct flow_goals *goals;
	struct flow_told_onward told[FLOW_QUESTIONS];
};

/* to_ask.c: the asker's, with a struct flow_to as its state. */
bool flow_to_item(void *state, uint32_t index, struct flow_item *item);
bool flow_to_ask(void *state, unsigned question, uint32_t index);
void flow_to_forget(struct flow_told_onward *told);
/* to_roots.c, with a struct flow_to as the context: flow_piece_fn and flow_move_fn. */
void flow_to_add_root(void *context, pid_t pid, uint64_t address, uint64_t length);
void flow_to_move_roots(void *context, uint64_t base, uint64_t to_address);
/* to_tell.c: the readers as findings. */
void flow_to_tell(struct flow_goals *goals);

#endif
