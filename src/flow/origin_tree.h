/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backwards from the values of an expression to where they come from.
 *
 * A value is a place in memory and a question: who stores what is read there by a certain piece of
 * code? (Of the expression itself: who stores there?) A writer is an answer that was seen. Its
 * instructions tell its sources (flow/slice.h): each load is the next value, the others are ends.
 * Values and writers refer to each other by index, and are never removed.
 *
 * An edge is told only when it was seen to carry: the load was seen to read the very bytes, after
 * the writer was the last to store there, and in the same caller as the one that was asked about.
 */
#ifndef FLOW_ORIGIN_TREE_H
#define FLOW_ORIGIN_TREE_H

#include "flow/places.h"
#include "flow/slice.h"

#define FLOW_VALUES 512
#define FLOW_WRITERS 512
#define FLOW_DEPTH 12
#define FLOW_FRAMES 6
#define FLOW_NONE UINT32_MAX

enum flow_value_state {
	FLOW_VALUE_KNOWN,  /* its address is: it is watched for its writer */
	FLOW_VALUE_SOUGHT, /* its address is to be seen when its load runs before the parent's store
			    */
	FLOW_VALUE_ENDED,  /* nothing is to be watched: `end` says why */
};

struct flow_value {
	uint32_t writer; /* whose source it is; FLOW_NONE: the expression */
	enum flow_value_state state;
	pid_t pid;
	uint64_t address, length;
	uint64_t reader, reader_end; /* code whose reading counts: [reader, reader_end) */
	unsigned operand;	     /* of the instruction at `reader` */
	unsigned first, wanted;	     /* bytes of that operand: from the first on; 0: all */
	uint64_t context;	     /* where the reader's function returns to; 0: anywhere */
	/* Of one that is sought: the copy's call, whose arguments tell the address. */
	bool copied, sized;		 /* sized: the third argument is how many bytes */
	uint64_t copy_call, copy_offset; /* of the byte in the destination that is asked about */
	char end[160];
	unsigned depth;
	uint64_t visits, reads, confirmed;
};

struct flow_writer {
	uint32_t value;
	uint64_t pc, address;
	uint32_t place; /* FLOW_NOWHERE: none */
	uint64_t count;
	bool kernel, copies;
	uint32_t repeats; /* the writer further up that it is again; FLOW_NONE */
};

/* A store that was seen, with all that is needed to ask on. */
struct flow_store {
	bool known, kernel, updates;
	pid_t pid, tid;
	uint64_t pc, address, length;
	uint64_t general[16], fs_base;
	struct tl_frame_place frame[FLOW_FRAMES];
	unsigned frames;
};

struct flow_tree {
	struct tl_host *host;
	const struct tl_services *services;
	struct flow_places places;
	struct flow_value value[FLOW_VALUES];
	uint32_t values;
	struct flow_writer writer[FLOW_WRITERS];
	uint32_t writers;
	struct flow_slice_work work;
};

/* The store counts for the value; what is new of it becomes a writer with its sources. */
void flow_tree_confirm(struct flow_tree *tree, uint32_t value, const struct flow_store *store,
		       const struct tl_access *example);
/* The address of a sought value, from the registers before its load, or before the copy's call.
 * False: not from these. */
bool flow_tree_address(struct flow_tree *tree, const struct flow_value *value,
		       const struct tl_access *access, uint64_t *address, uint64_t *length);
/* calls.c: where calls come from and go to. 0: not known. */
bool flow_decode_at(struct flow_tree *tree, pid_t pid, uint64_t pc, struct insn *insn);
/* Through a stub of the linker's to the function; else the target itself. */
uint64_t flow_resolve_stub(struct flow_tree *tree, pid_t pid, uint64_t target);
/* The one jump by which control came from function `called` to function `own`. */
uint64_t flow_find_jump(struct flow_tree *tree, pid_t pid, uint64_t called, uint64_t own);
/* What register `number` points to at a call, where it was loaded from a variable. */
uint64_t flow_loaded_pointer(struct flow_tree *tree, pid_t pid, uint64_t call, int number);
/* The C library, the dynamic linker, or the vDSO. */
bool flow_in_c_library(struct flow_tree *tree, pid_t pid, uint64_t pc);
/* The instruction that a return address is behind. */
uint64_t flow_call_before(struct flow_tree *tree, pid_t pid, uint64_t pc);

/* The function's code, in memory of the tree's that the next call overwrites. 0 or -errno. */
struct flow_code {
	uint64_t start, length;
	const uint8_t *bytes;
};
int flow_tree_code(struct flow_tree *tree, pid_t pid, uint64_t pc, struct flow_code *code);

#endif
