/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `trapline flow from`. Not for other folders. */
#ifndef FLOW_FROM_H
#define FLOW_FROM_H

#include "flow/asking.h"
#include "flow/origin_tree.h"
#include "flow/passage.h"

/* What the hits of a question have told so far. */
struct flow_told {
	struct flow_store last; /* the last store to the place since it is watched */
	/* Where the value must go on to: this writer stores there. FLOW_NONE: anywhere. */
	uint32_t goal;
	uint64_t since; /* when all its watches were armed */
	struct flow_passage passage;
	/* Of a sought value: what the last load is about to read (from `address`), and what the
	 * load before the last store to the parent did (`stored_…`). */
	uint64_t thread; /* its identity */
	uint64_t address, length;
	bool found;
	uint64_t stored_address, stored_length; /* length 0: not known */
	/* What was stored to the parent has been read, on its way to the goal: it is in a register,
	 * whatever is stored to the parent later. */
	bool taken;
	uint64_t taken_address, taken_length;
	struct flow_store taken_store;
	/* What has arrived at the goal, until its reader comes. */
	bool arrived;
	uint64_t arrived_address, arrived_length;
	struct flow_store arrived_store;
	bool code;     /* the code of the value's writer, or of its copying, is watched besides */
	uint64_t read; /* what the value's reader read last */
	bool read_known;
	/* What the last store left there; length 0: unknown. */
	uint64_t goal_bytes, goal_length;
	uint64_t parent_bytes, parent_length; /* of a sought value's parent */
	uint64_t general[16]; /* the registers before that load, or call, or behind the last read */
};

struct flow_from {
	struct tl_host *host;
	const struct tl_services *services;
	struct flow_asking asking;
	struct flow_tree *tree;
	struct flow_told told[FLOW_QUESTIONS];
};

/* from_ask.c. The writer to whose store the value must go on after it was read, for the read to
 * count; FLOW_NONE: it counts by itself. */
uint32_t flow_from_goal(const struct flow_from *from, const struct flow_value *value);
/* Whose reading counts, where process `pid` is looked at; 0: that is in another one, and what is
 * stored counts. */
static inline uint64_t flow_from_reader(const struct flow_value *value, pid_t pid)
{
	return value->pid == pid ? value->reader : 0;
}
/* from_reader.c. Is it the value's reader, in the call that was asked about? */
bool flow_from_is_reader(struct flow_from *from, const struct flow_value *value,
			 const struct tl_access *access);
/* Does the function return to `context` (0: wherever it does), through the value's callers? Unwinds
 * no further than has to be known. */
bool flow_from_is_called_there(struct flow_from *from, const struct flow_value *value,
			       uint64_t context, const struct tl_access *access);
/* given.c. Does the access store at the parent what was read, as far as that can be told? */
bool flow_from_is_given(const struct flow_from *from, struct flow_value *value,
			struct flow_told *told, const struct tl_access *access);
/* What the access has read of the value. False: not known, as where it has stored as well. */
bool flow_from_read(const struct flow_value *value, const struct tl_access *access,
		    uint64_t *bytes);
/* Is there, at `place`, still what the last store that was seen has left (`bytes`; length 0: not
 * known), as far as the access tells? Else another one was not seen. */
bool flow_from_is_left_there(const struct flow_value *place, uint64_t bytes, uint64_t length,
			     const struct tl_access *access);
/* Others are read than the last store seen has left: there was one that was not seen, as by a
 * system call, or the order of two threads' hits is not that of their accesses. */
void flow_from_doubt(const struct flow_value *value, struct flow_told *told,
		     const struct tl_access *access);
/* The asker's, with a struct flow_from as its state. */
bool flow_from_item(void *state, uint32_t index, struct flow_item *item);
bool flow_from_ask(void *state, unsigned question, uint32_t index);
/* from_roots.c, with a struct flow_from as the context: flow_piece_fn and flow_move_fn. */
void flow_from_add_root(void *context, pid_t pid, uint64_t address, uint64_t length);
void flow_from_move_roots(void *context, uint64_t base, uint64_t to);
/* from_tell.c: the writers as findings. */
void flow_from_tell(struct flow_tree *tree);

#endif
