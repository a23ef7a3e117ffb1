/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backwards from the values of an expression to where they come from.
 *
 * A value is a place in memory and a question: who stores what is read there by a certain piece of
 * code? (Of the expression itself: who stores there?) A writer is an answer that was seen. Its
 * instructions tell its sources (slice/slice.h): each load is the next value, the others are ends.
 * Values and writers refer to each other by index, and are never removed.
 *
 * An edge is told only when it was seen to carry: the load was seen to read the very bytes, after
 * the writer was the last to store there, and in the same caller as the one that was asked about.
 */
#ifndef FLOW_ORIGIN_TREE_H
#define FLOW_ORIGIN_TREE_H

#include "traffic/places.h"
#include "slice/slice.h"

#define FLOW_VALUES 512
#define FLOW_WRITERS 512
#define FLOW_DEPTH 12
#define FLOW_FRAMES 6
#define FLOW_NONE UINT32_MAX
#define FLOW_STRAYED 2 /* values that went elsewhere, after which it is known that some do */

enum flow_value_state {
	FLOW_VALUE_KNOWN,  /* its address is: it is watched for its writer */
	FLOW_VALUE_SOUGHT, /* its address is to be seen when its load runs before the parent's store
			    */
	FLOW_VALUE_ENDED,  /* nothing is to be watched: `end` says why */
};

struct flow_store;

#define FLOW_CALLERS 4 /* calls followed into or out of from one store */

/* An activation that called another one which has ended. */
struct flow_caller {
	bool gone, jumped; /* as of a standpoint */
	uint64_t function, context;
};

/* Where in a stopped activation a slice was taken. */
struct flow_standpoint {
	uint32_t writer;
	const struct flow_store *store;
	unsigned frame;	   /* of the store's, whose function it is in; 0: its own */
	bool gone;	   /* its activation has ended: no registers */
	bool jumped;	   /* it has jumped to the one of `frame` */
	uint64_t function; /* of one that is gone: its start */
	uint64_t context;  /* where the function returns to; 0: not known */
	/* Of one that is gone, and has not jumped: who called it, and so on to the one of `frame`.
	 */
	struct flow_caller caller[FLOW_CALLERS];
	unsigned callers;
	/* Its slice was taken at a call that has returned: registers are those of later. */
	bool returned;
	unsigned nest;
	bool always;   /* whatever a function returned to there was stored, in the end */
	bool chosen;   /* the value came unchanged from one of several */
	bool computed; /* it need not be the same as in the writer's function */
};

#define FLOW_TARGETS 4 /* functions that one call by a pointer is followed into */

/* A call by a pointer: which function it led to is seen when it runs before the parent's store. */
struct flow_call {
	struct flow_standpoint from; /* its store has been forgotten */
	bool argument;		     /* it passed `place`; else its function returned the value */
	struct insn_place place;
	uint64_t target[FLOW_TARGETS];
	unsigned targets;
};

/* How code was reached when it was seen first: its pc and the callers'. */
struct flow_way_there {
	uint64_t pc[FLOW_FRAMES];
	unsigned count;
	pid_t tid;
};

struct flow_value {
	uint32_t writer; /* whose source it is; FLOW_NONE: the expression */
	enum flow_value_state state;
	pid_t pid;
	uint64_t address, length;
	uint64_t reader, reader_end; /* code whose reading counts: [reader, reader_end) */
	unsigned operand;	     /* of the instruction at `reader` */
	unsigned first, wanted;	     /* bytes of that operand: from the first on; 0: all */
	uint64_t bits;		     /* of the value's, where it has at most eight bytes; 0: all */
	uint64_t context;	     /* where the reader's function returns to; 0: anywhere */
	/* And where those return to that had called it from within the writer's function. */
	uint64_t beyond[FLOW_CALLERS];
	unsigned callers;
	/* The parent's value came unchanged from one of several, of which this is one: it counts
	 * only where the parent is then given the very value that was read here. */
	bool chosen;
	uint64_t barred[FLOW_BARRED]; /* with these its reader does not go on */
	unsigned barred_count;
	/* A loop loads many, each of which is always in what is stored, but for these bytes. */
	bool gathers, bytes_lost;
	uint64_t byte_lost[4];
	bool computed; /* what is stored may be something else, made of what is read */
	bool common;   /* many of its values are the same: none tells it from others */
	/* How many values went on to the goal, and how many did not: it is a place that values pass
	 * through. What made them is then asked with the goal of this one's. */
	uint64_t led, strayed;
	uint64_t only_writer; /* that stored what the reader read, whether it went on or not */
	bool several, sole;   /* there were others; it is asked without a goal */
	uint64_t goal_stores; /* that the goal's writer was seen to make */
	bool was_sought;
	bool held;   /* not asked: its parent's place may be one that values pass through */
	bool framed; /* what system calls store there is not seen: flow_asking_is_framed() */
	/* Of one that is or was sought: registers that are the same before its load and behind the
	 * parent's store, a bit each. */
	uint16_t kept;
	/* Of one that is sought: the copy's call, whose arguments tell the address. */
	bool copied, sized;		 /* sized: the third argument is how many bytes */
	uint64_t copy_call, copy_offset; /* of the byte in the destination that is asked about */
	/* Of one that the C library reads a text for: its call is `copy_call`, made in a function
	 * that returns to `caller` (0: anywhere), and the text its first argument. */
	enum flow_parsed { FLOW_NOT_PARSED, FLOW_PARSED_NUMBER, FLOW_PARSED_FORMAT } parsed;
	uint64_t caller;
	bool called; /* it is sought through `call`, whose instruction is at `reader` */
	struct flow_call call;
	char end[160];
	unsigned depth;
	uint64_t visits, reads, confirmed;
	uint64_t tries; /* visits since its address was learnt */
	/* How often it was to be asked about and could not be watched, for another reason than the
	 * budget: its turn is over, and nothing is known by it. */
	uint64_t refused;
};

struct flow_writer {
	uint32_t value;
	uint64_t pc, address;
	uint64_t context; /* where its function returned to; 0: not known */
	uint32_t place;	  /* FLOW_NOWHERE: none */
	struct flow_way_there way;
	uint64_t count;
	bool kernel, copies;
	bool made;  /* each time of what was loaded since the last, not of one load in a loop */
	bool fixed; /* flow_is_fixed() */
	unsigned operand; /* which stores */
	bool revoked; /* it was seen when it was not known that its value's place is passed through
		       */
	uint32_t repeats; /* the writer further up that it is again; FLOW_NONE */
};

/* A store that was seen, with all that is needed to ask on. */
struct flow_store {
	bool known, kernel, updates;
	bool bytes_known;
	uint64_t bytes; /* that it left where the value is */
	pid_t pid, tid;
	uint64_t pc, address, length;
	uint64_t general[16], fs_base;
	struct tl_frame_place frame[FLOW_FRAMES];
	unsigned frames;
};

static inline struct flow_way_there flow_way_to(const struct flow_store *access)
{
	struct flow_way_there way = {.count = access->frames, .tid = access->tid};

	for (unsigned i = 0; i < access->frames; i++)
		way.pc[i] = i ? access->frame[i].pc : access->pc;
	return way;
}

#define FLOW_RETURNED 1024

struct flow_tree {
	struct tl_host *host;
	const struct tl_services *services;
	/* returned.c: whose code is asked about, and what is known of it, by a hash of the target;
	 * only those that may return. */
	pid_t pid;
	uint64_t returned[FLOW_RETURNED];
	struct flow_places places;
	struct flow_value value[FLOW_VALUES];
	uint32_t values;
	struct flow_writer writer[FLOW_WRITERS];
	uint32_t writers;
	struct flow_slice_work work;
};

/* The writer whose store shows that the value went on: of the value's own parent, or of the first
 * one further up that values do not pass through. */
uint32_t flow_tree_goal(const struct flow_tree *tree, const struct flow_value *value);
/* One that passed through the value's place went elsewhere. */
void flow_tree_stray(struct flow_tree *tree, uint32_t value);
/* The same, where it is known whither: one tells that others go there, too. */
void flow_tree_stray_surely(struct flow_tree *tree, uint32_t value);
/* Is it below a writer that was revoked? */
bool flow_tree_is_void(const struct flow_tree *tree, const struct flow_value *value);
/* The store counts for the value; what is new of it becomes a writer with its sources. */
void flow_tree_confirm(struct flow_tree *tree, uint32_t value, const struct flow_store *store);
/* Nobody stores to where the value is: it ends there. False: somebody may. (operands.c) */
bool flow_tree_end_constant(struct flow_tree *tree, struct flow_value *value);
/* The address of a sought value, from the registers before its load, or before the copy's call.
 * False: not from these. (operands.c) */
bool flow_tree_address(struct flow_tree *tree, const struct flow_value *value,
		       const struct tl_access *access, uint64_t *address, uint64_t *length);
/* The store was made after the value's call had led to `target`: that function's code is followed.
 */
void flow_tree_called(struct flow_tree *tree, uint32_t value, uint64_t target,
		      const struct flow_store *store);
/* Does the instruction's operand name a variable, or a place of its own stack's, and no element
 * that another pass of it need not come to? */
bool flow_is_fixed(struct flow_tree *tree, pid_t pid, uint64_t pc, unsigned operand);
/* The bytes at `address`, of those that the access tells: how many, the lowest first; 0: none. */
uint64_t flow_bytes_at(const struct tl_access *access, uint64_t address, uint64_t length,
		       uint64_t *bytes);
/* Does it tell a value from others that it is these `length` bytes? Not where many are the same. */
bool flow_is_telling(uint64_t bytes, uint64_t length);
/* Of an operand's bytes those that the value is about. */
void flow_take_part(const struct flow_value *value, uint64_t *address, uint64_t *length);
/* Of a string instruction that has moved to `stored`, by the registers after it: from where. False:
 * it is none. */
bool flow_string_source(const struct insn *insn, const struct insn_registers *after,
			uint64_t stored, uint64_t *address);
/* Where the instruction that has just loaded from `loaded` has stored that. `*length` is that of
 * what was loaded, and less where it stores less. */
bool flow_stored_by(struct flow_tree *tree, const struct flow_value *store,
		    const struct tl_access *load, uint64_t loaded, uint64_t *address,
		    uint64_t *length);
/* Which of the instruction's operands stored there, and which of its bytes are wanted. */
bool flow_stored_operand(struct flow_tree *tree, const struct flow_store *store,
			 const struct flow_value *wanted, struct flow_stored *stored);
/* calls.c: where calls come from and go to. 0: not known. */
bool flow_decode_at(struct flow_tree *tree, pid_t pid, uint64_t pc, struct insn *insn);
/* Through a stub of the linker's to the function; else the target itself. */
uint64_t flow_resolve_stub(struct flow_tree *tree, pid_t pid, uint64_t target);
/* The one jump by which control came from function `called` to function `own`. */
uint64_t flow_find_jump(struct flow_tree *tree, pid_t pid, uint64_t called, uint64_t own);
/* Where the call by a pointer goes, from the registers before it. */
uint64_t flow_call_target(struct flow_tree *tree, const struct tl_access *access);
/* What register `number` points to at a call, where it was loaded from a variable. */
uint64_t flow_loaded_pointer(struct flow_tree *tree, pid_t pid, uint64_t call, int number);
/* The C library, the dynamic linker, or the vDSO. */
bool flow_in_c_library(struct flow_tree *tree, pid_t pid, uint64_t pc);
/* The function that stands at `pc`, inlined ones not: in memory that the next call overwrites. */
const char *flow_function_name(struct flow_tree *tree, pid_t pid, uint64_t pc);
/* Does the C library's function of that name copy from its second argument to its first? */
bool flow_copies_memory(const char *name);
/* Does it make its result of the text that its first argument points to? */
bool flow_reads_number(const char *name);
/* The call, or the jump at a function's end, by which the function at `own` was entered that
 * returns to `context`. */
uint64_t flow_call_of(struct flow_tree *tree, pid_t pid, uint64_t context, uint64_t own);
/* The instruction that a return address is behind. */
uint64_t flow_call_before(struct flow_tree *tree, pid_t pid, uint64_t pc);

/* returned.c: once, before slices are taken. */
void flow_tree_init(struct flow_tree *tree, struct tl_host *host,
		    const struct tl_services *services);

/* The function's code, in memory of the tree's that the next call overwrites. 0 or -errno. */
struct flow_code {
	uint64_t start, length;
	const uint8_t *bytes;
};
int flow_tree_code(struct flow_tree *tree, pid_t pid, uint64_t pc, struct flow_code *code);
/* Why it failed, or what was made of the code did: for people. */
const char *flow_why_unread(struct flow_tree *tree, pid_t pid, uint64_t pc);

#endif
