/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who touches which bytes of which cache line: from samples and hits to true and false sharing.
 * Plain data and arithmetic, which knows no process; the controller's thread uses it.
 *
 * Two threads share a byte truly when one wrote it and the other read or wrote it. A line moves
 * between caches whenever a thread other than the last one comes to it and one of the two writes:
 * that is a transfer. A transfer for a byte that the two share is the price of communicating; one
 * for any other byte would not happen if the bytes lay on different lines.
 */
#ifndef TRAFFIC_LINES_H
#define TRAFFIC_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FLOW_LINE 64 /* bytes */
/* lines remembered; hashed, a newer line takes the place of an older one */
#define FLOW_LINES 4096
#define FLOW_ACTORS 8	       /* threads remembered for a line */
#define FLOW_SPOTS 6	       /* instructions remembered for a thread at a line */
#define FLOW_STALE 2000000000u /* ns without a visit after which a thread's bytes are forgotten */
/* transfers seen within one watch before a line is reported as shared */
#define FLOW_TRANSFERS 4

/* Memory by what it is, not by where it is mapped. */
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
	/* clock samples of instructions that were about to touch the line */
	uint64_t samples;
	uint64_t watches, watched; /* how often the line was watched, and for how many ns in all */
	/* how often it was watched to see who else comes there, when one thread had been seen */
	uint64_t looks;
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
	uint64_t displaced; /* lines forgotten because another line took their slot */
};

struct flow_line *flow_lines_find(struct flow_lines *lines, const struct flow_memory *memory);
/* A bit for each byte of the line of `address` that the access touches. */
uint64_t flow_line_bytes(uint64_t address, unsigned length);
/* Notes a visit whose order among others is not known. */
void flow_line_note(struct flow_line *line, const struct flow_visit *visit);
/* True when two threads came lately and one of them wrote. */
bool flow_line_is_shared(const struct flow_line *line, uint64_t now);
/* Visits in their order, as a watch of some of the line's bytes sees them. */
void flow_line_watch_begin(struct flow_line *line);
void flow_line_watch_visit(struct flow_line *line, const struct flow_visit *visit);
/* True when the watch saw the line move between threads; its transfers then count. The caller
 * counts the watch itself. */
bool flow_line_watch_end(struct flow_line *line, uint64_t duration);
/* The two threads that make most of the sharing; false when there are no two. */
bool flow_line_pair(const struct flow_line *line, const struct flow_actor **first,
		    const struct flow_actor **second);
/* The actor's instruction with most visits, one that writes if it has any. */
const struct flow_spot *flow_actor_spot(const struct flow_actor *actor);

#endif
