/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Did the value that is at one place come from a certain other place? The same code may store many
 * values to one place, of which only some come from there. This is flow/passage.h the other way
 * round.
 *
 * There are three places, in the order in which the value goes: the origin, all of whose values
 * count; a place that values of several origins pass through, if there is one on the way (`next`);
 * and the place that is asked about. Between a load and its store the value is in a thread's
 * registers. Pure functions.
 */
#ifndef FLOW_ONWARD_H
#define FLOW_ONWARD_H

#include <stdbool.h>
#include <stdint.h>

struct flow_onward {
	bool filled;	  /* the last store to the origin was one that counts */
	uint64_t carried; /* identity of the thread whose registers hold the origin's value on its
			     way to the next place; 0: none */
	bool passing;	  /* the next place holds it */
	uint64_t taken;	  /* the same, on its way to the place that is asked about */
	bool holds;	  /* the place that is asked about holds it */
	bool settled;	  /* there was a store to it since anything was lost */
};

/* What came last is not known any more. `filled`: any store to the origin counts. */
void flow_onward_forget(struct flow_onward *onward, bool filled);
/* The load that is on the way reads the origin. `through`: the next place is another one. */
void flow_onward_origin_read(struct flow_onward *onward, uint64_t thread, bool through);
/* A store to the next place. `follows`: by the code that stores there what that load has read.
 * `once`: as for flow_onward_arrive(). */
void flow_onward_next_store(struct flow_onward *onward, uint64_t thread, bool follows, bool once);
void flow_onward_next_read(struct flow_onward *onward, uint64_t thread);
/* The thread's registers hold another value now. */
void flow_onward_drop(struct flow_onward *onward, uint64_t thread);
/* A store to the place that is asked about, by the code that stores what was loaded (`filler`), of
 * the very value as far as that can be told (`same`). `once`: nothing tells later stores of other
 * values from those of this one. True: it was of another value. */
bool flow_onward_arrive(struct flow_onward *onward, uint64_t thread, bool filler, bool same,
			bool once);

#endif
