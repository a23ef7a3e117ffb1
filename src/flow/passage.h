/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a value that is read at one place go on to a certain other place? Values for different
 * destinations may pass through one place in memory, such as the stack slot of a parameter or of a
 * loop's variable. Only those count that reach the destination in question, the goal.
 *
 * There are three places, in the order in which the value goes: the one that is asked about, where
 * a known piece of code reads it; the one that it is stored to next; and the goal, which may be the
 * same as that. A value goes on within one thread. Pure functions.
 */
#ifndef FLOW_PASSAGE_H
#define FLOW_PASSAGE_H

#include "flow/origin_tree.h"

enum flow_passage_stage {
	FLOW_PASSAGE_NONE,
	FLOW_PASSAGE_READ,   /* read at the place that is asked about */
	FLOW_PASSAGE_STORED, /* and stored to the next one */
	FLOW_PASSAGE_TAKEN,  /* and read there, on its way to the goal */
};

struct flow_passage {
	struct flow_store last;	   /* to the place, since it is watched */
	uint64_t stores;	   /* how many, by which they are told apart */
	struct flow_store origin;  /* of the value on its way: the last when it was read */
	uint64_t number;	   /* of the origin */
	bool arrived;		   /* the origin's value reached the goal once */
	struct flow_store waiting; /* the origin of what is at the goal, until its reader comes */
	enum flow_passage_stage stage;
	uint64_t thread;
};

void flow_passage_forget(struct flow_passage *passage);
void flow_passage_store(struct flow_passage *passage, const struct flow_store *store);
/* True: the value before it never reached the goal. */
bool flow_passage_read(struct flow_passage *passage, uint64_t thread);
/* The thread has stored elsewhere what it had read last. */
void flow_passage_drop(struct flow_passage *passage, uint64_t thread);
/* Of the next place, where it is not the goal: stored to by the code that had read (`follows`), or
 * by another; and read by the code that stores to the goal. `same`: the value as it was read, which
 * copying may store in two overlapping parts. */
void flow_passage_next_store(struct flow_passage *passage, uint64_t thread, bool follows,
			     bool same);
void flow_passage_next_read(struct flow_passage *passage, uint64_t thread);
/* Stored to the goal, by the code that does it; `through`: the next place is another. True: the
 * value of `origin` is that one, for the first time. */
bool flow_passage_arrive(struct flow_passage *passage, uint64_t thread, bool through);
/* At the goal, where only what its reader reads counts. Before any store there: true: a value that
 * had arrived was not read. */
bool flow_passage_overwrite(struct flow_passage *passage);
void flow_passage_wait(struct flow_passage *passage);
/* True: a value that had arrived is read; its origin is `waiting`. */
bool flow_passage_goal_read(struct flow_passage *passage);

#endif
