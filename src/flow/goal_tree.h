/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwards from the values of an expression to where they go: the mirror image of
 * flow/origin_tree.h. A spot is a place in memory that a certain store fills with the value; the
 * expression's own place counts with any store. A reader is code that was seen to load the value
 * from there, called from where the store was. Its instructions tell what becomes of the value
 * (slice/forward.h): each store is a next spot, all else is an end.
 */
#ifndef FLOW_GOAL_TREE_H
#define FLOW_GOAL_TREE_H

#include "slice/forward.h"
#include "flow/origin_tree.h"

struct flow_spot_of_value {
	uint32_t reader; /* which took the value here; FLOW_NONE: the expression */
	enum flow_value_state state;
	pid_t pid;
	uint64_t address, length;
	uint64_t filler; /* the store's pc; 0: any */
	/* Of one that the C library's copying fills: the end of its code, which begins at
	 * `filler`, and its call, whose arguments tell the address. */
	uint64_t filler_end, copy_call; /* 0: none */
	bool sized;			/* the third argument is how many bytes */
	bool bypassed;			/* the value may be loaded and not stored there */
	bool copies;			/* it is stored as it was loaded */
	bool at_once; /* by the instruction that loads it, or the one right behind that */
	bool fixed; /* the store names a variable, or a place of its own stack's: no table's element
		     */
	/* It is no place in memory: at `filler` the value is in register `argument` of a call by a
	 * pointer, of which is seen where it goes when it runs. */
	bool called;
	struct insn_place argument;
	unsigned nest; /* calls followed into up to there */
	uint64_t target[FLOW_TARGETS];
	unsigned targets;
	bool was_sought;
	bool framed; /* what system calls read there is not seen: flow_asking_is_framed() */
	bool common; /* the values are such that many are the same: no value tells it from others */
	unsigned operand, first, wanted; /* bytes of the operand; wanted 0: all */
	uint64_t context;		 /* where the store's function returns to; 0: anywhere */
	char end[160];
	unsigned depth;
	uint64_t visits, confirmed;
	uint64_t refused; /* as of struct flow_value */
	/* Stores by the filler of values that came from the reader, and of others: it is a place
	 * that values of several origins pass through. */
	uint64_t led, strayed;
};

struct flow_reader {
	uint32_t spot;
	uint64_t pc, count;
	uint32_t place;
	struct flow_way_there way;
	bool kernel;
	bool revoked;	  /* it was seen when it was not known that its spot is passed through */
	uint32_t repeats; /* the reader further up that it is again; FLOW_NONE */
};

struct flow_goals {
	struct flow_tree tree; /* for code, calls and places; it has no values of its own */
	struct flow_spot_of_value spot[FLOW_VALUES];
	uint32_t spots;
	struct flow_reader reader[FLOW_WRITERS];
	uint32_t readers;
};

/* Is it code that fills the spot? */
static inline bool flow_is_filler(const struct flow_spot_of_value *spot, uint64_t pc)
{
	return pc == spot->filler ||
	       (spot->copy_call && pc > spot->filler && pc < spot->filler_end);
}

/* The spot all values of which count: the one above `spot`, or the first one further up that values
 * of other origins do not pass through. `*below`: the next one on the way from there. */
uint32_t flow_goals_origin(const struct flow_goals *goals, uint32_t spot, uint32_t *below);
/* A value that did not come from its reader was stored there. */
void flow_goals_stray(struct flow_goals *goals, uint32_t spot);
/* Is it, or something above it, revoked? */
bool flow_goals_is_void(const struct flow_goals *goals, uint32_t reader);
/* The call of the spot, which is `called`, went to `target` with the value: what becomes of it
 * there is followed. */
void flow_goals_called(struct flow_goals *goals, uint32_t spot, uint64_t target);
/* The load counts for the spot; what is new of it becomes a reader with its uses. */
void flow_goals_confirm(struct flow_goals *goals, uint32_t spot, const struct flow_store *load);

#endif
