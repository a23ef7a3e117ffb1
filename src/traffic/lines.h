/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who touches which bytes of which cache line: from samples and hits to true and false sharing.
 * Plain data and arithmetic; knows no process.
 *
 * Two threads share a byte truly when one wrote it and the other read or wrote it. A line goes to
 * and fro between caches whenever another thread than the last one comes to it and one of the two
 * writes: that is a transfer. A transfer to a byte that the two share is the price of
 * communicating; to any other byte it would not be made if the bytes lay on different lines.
 */
#ifndef TRAFFIC_LINES_H
#define TRAFFIC_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FLOW_LINE 64	       /* bytes */
#define FLOW_LINES 4096	       /* remembered; hashed, the newer one stays */
#define FLOW_ACTORS 8	       /* threads remembered of a line */
#define FLOW_SPOTS 6	       /* instructions remembered of a thread at a line */
#define FLOW_STALE 2000000000u /* ns without a visit after which a thread's bytes are forgotten */
#define FLOW_TRANSFERS 4       /* seen within one watch before a line is said to be shared */

/* Memory by what it is, not where it is mapped. */
struct flow_memory {
	uint64_t object; /* the process, or the mapped file's inode */
	uint64_t offset; /* of the line: its address, or its offset in the file */
	bool shared;	 /* `object` is an inode */
};

struct flow_visit {
	pid_t pid, tid;
	uint64_t pc, address, time;
	unsigned length; /* bytes */
	bool reads, writes;
};

struct flow_spot {
	uint64_t pc, address;
	unsigned length;
	bool reads, writes;
	uint64_t count;
};

struct flow_actor {
	pid_t pid, tid;
	uint64_t read, written; /* a bit for each byte of the line */
	uint64_t last;		/* time of the last visit */
	uint64_t visits;
	struct flow_spot spot[FLOW_SPOTS];
	unsigned spots;
};

struct flow_line {
	bool used;
	struct flow_memory memory;
	struct flow_actor actor[FLOW_ACTORS];
	unsigned actors;
	uint64_t samples;	   /* clock samples about to touch it */
	uint64_t watches, watched; /* how often it was watched, and ns in all */
	uint64_t looks;		   /* how often for who else comes there than one thread */
	uint64_t true_transfers, false_transfers;
	/* Within the watch under way. */
	int last_actor; /* -1: none yet */
	bool last_wrote;
	uint64_t last_bytes;
	unsigned transfers;
	uint64_t pending_true, pending_false;
};

struct flow_lines {
	struct flow_line line[FLOW_LINES];
	uint64_t displaced; /* lines forgotten for another's sake */
};

struct flow_line *flow_lines_find(struct flow_lines *lines, const struct flow_memory *memory);
/* A bit for each byte of the line of `address` that the access touches. */
uint64_t flow_line_bytes(uint64_t address, unsigned length);
/* A visit of which the order among others is not known. NULL memory is allowed for none. */
void flow_line_note(struct flow_line *line, const struct flow_visit *visit);
/* Two threads came lately, and one of them wrote. */
bool flow_line_is_shared(const struct flow_line *line, uint64_t now);
/* Visits in their order, from a watch of some of its bytes. */
void flow_line_watch_begin(struct flow_line *line);
void flow_line_watch_visit(struct flow_line *line, const struct flow_visit *visit);
/* True when the watch saw the line go to and fro; its transfers then count. The caller counts the
 * watch. */
bool flow_line_watch_end(struct flow_line *line, uint64_t duration);
/* The two threads that make most of the sharing: false when there are none. */
bool flow_line_pair(const struct flow_line *line, const struct flow_actor **first,
		    const struct flow_actor **second);
/* The instruction of the actor with most visits, a writing one where there is one. */
const struct flow_spot *flow_actor_spot(const struct flow_actor *actor);

#endif
