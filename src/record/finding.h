/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding: what a tool saw, as plain data. Tools fill it, store keeps it, report renders it.
 *
 * Ownership: a finding owns everything it points to. Strings are copied into it by
 * finding_string(); arrays grow through the finding_add_* functions; finding_destroy() frees all of
 * it at once and nothing is ever freed singly. A pointer returned by finding_add_* stays valid
 * until the next finding_add_* on the same array. Every pointer may be NULL for "not known".
 * When memory is short the add functions return NULL and the finding stays consistent without the
 * addition. Not for signal handlers.
 */
#ifndef RECORD_FINDING_H
#define RECORD_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bounds that hostile input meets; beyond them the add functions return NULL. */
#define FINDING_ACCESSES_MAX 16
#define FINDING_FRAMES_MAX 1024
#define FINDING_EVIDENCE_MAX 64
#define FINDING_OCCURRENCES_MAX 128
#define FINDING_DETAILS_MAX 32

#define FINDING_ID_SIZE 17 /* 16 hexadecimal digits and the final zero */

/* Kinds the project itself uses; another tool names its own (lower case, digits, dashes). */
#define FINDING_DATA_RACE "data-race"
#define FINDING_HIT "hit"
#define FINDING_NOTE "note"

/* One of the kinds that `trapline flow` answers with: they are no mistakes of the program. */
bool finding_is_of_flow(const char *kind);

/* Ordered by how sure it is. */
enum finding_class {
	FINDING_UNCLASSED,
	FINDING_POSSIBLE,
	FINDING_LIKELY,
	FINDING_DEFINITE,
};

enum finding_operation {
	FINDING_UNKNOWN_OPERATION,
	FINDING_READ,
	FINDING_WRITE,
	FINDING_READ_MODIFY_WRITE,
	FINDING_EXECUTE,
};

enum finding_object_kind {
	FINDING_OBJECT_OTHER,
	FINDING_OBJECT_GLOBAL,
	FINDING_OBJECT_HEAP,
	FINDING_OBJECT_STACK,
	FINDING_OBJECT_TLS,
};

struct finding_frame {
	uint64_t pc;		 /* frame 0: the instruction itself; callers: the return address */
	const char *module;	 /* path of the mapped file */
	const char *build_id;	 /* lower-case hexadecimal */
	uint64_t offset;	 /* pc as the module's own (link-time) address: pc - load bias */
	const char *function;	 /* demangled where it was mangled */
	int64_t function_offset; /* bytes from the function's first; -1: not known */
	unsigned function_line;	 /* line on which the function is declared; 0: not known */
	const char *file;
	unsigned line;	 /* 0: not known */
	unsigned column; /* 0: not known */
	bool inlined;	 /* this function was inlined into the next frame's */
};

struct finding_stack {
	struct finding_frame *frames; /* innermost first */
	size_t count;
	size_t capacity;
};

struct finding_access {
	pid_t tid;
	const char *thread; /* its name */
	enum finding_operation operation;
	uint64_t size; /* bytes; 0: not known */
	uint64_t address;
	bool atomic;
	bool kernel;	   /* made by the kernel on the thread's behalf */
	bool unseen;	   /* thread and stack are those of the object's allocation */
	bool before_known; /* the value there just before the access */
	bool after_known;  /* and just after it */
	uint64_t before;   /* the first min(size, 8) bytes, little-endian */
	uint64_t after;
	uint64_t time;	/* nanoseconds since 1970; 0: the finding's */
	uint32_t facts; /* the tool's own, to judge again by; 0: none */
	struct finding_stack stack;
};

/* What became of a block. */
struct finding_freed {
	uint64_t time; /* nanoseconds since 1970; 0: it was not freed, or that is not known */
	pid_t tid;
	const char *thread;
	struct finding_stack stack;
};

struct finding_object {
	enum finding_object_kind kind;
	const char *name; /* variable, or a description of the block; NULL: nothing is known */
	const char *type; /* as in the source */
	uint64_t offset;  /* of the first accessed byte within it */
	uint64_t size;	  /* of the whole object; 0: not known */
	uint64_t address; /* of the whole object; 0: not known */
	pid_t tid;	  /* whose stack or thread-local storage; who allocated; 0: not known */
	const char *thread;
	const char *file; /* where the variable is declared */
	unsigned line;
	const char *module;	    /* of a global: in whose data it is */
	const char *build_id;	    /* of that */
	uint64_t module_offset;	    /* of the first accessed byte: the module's own address */
	struct finding_stack stack; /* where the block was allocated; its frame 0 is in the call */
	uint64_t time;		    /* when that was, nanoseconds since 1970; 0: not known */
	struct finding_freed freed;
};

/* A tool's own words on it: a member of the JSON form, a line of the text. */
struct finding_detail {
	const char *name; /* lower case, digits, dashes */
	const char *value;
};

/* One more time the same thing happened. */
struct finding_occurrence {
	uint64_t time; /* nanoseconds since 1970 */
	pid_t tid;
};

struct finding_block; /* private: a piece of the finding's memory */

struct finding {
	const char *kind;
	char id[FINDING_ID_SIZE];     /* "" until finding_identify() */
	enum finding_class certainty; /* "class" in the JSON form */
	unsigned rank;		      /* among those of its class: lower ones first; 0: none */
	const char *message;	      /* one sentence of a tool-defined kind */
	const char **evidence;
	size_t evidence_count;
	size_t evidence_capacity;
	const char *strategy; /* what led to it */
	struct finding_detail *details;
	size_t detail_count;
	size_t detail_capacity;
	struct finding_object object;
	struct finding_access *accesses;
	size_t access_count;
	size_t access_capacity;
	struct finding_occurrence *occurrences; /* a bounded sample, for timelines */
	size_t occurrence_count;
	size_t occurrence_capacity;
	uint32_t occurrence_stride; /* private: one in so many is kept since the array was full */
	uint32_t occurrence_skip;   /* private: of those, how many have passed */
	uint64_t count;		    /* how many times; at least 1 */
	pid_t pid;
	const char *program;  /* path of the executable */
	const char *build_id; /* of the executable */
	const char *host;
	const char
		*run;	/* unique to one run of the tool: merging the same run twice adds nothing */
	uint64_t time;	/* first seen, nanoseconds since 1970 */
	uint64_t last;	/* last seen; 0: the same */
	unsigned runs;	/* of a merged finding: in how many runs it was seen; 0: not merged */
	unsigned hosts; /* on how many machines */
	unsigned builds;	      /* with how many builds of the program */
	struct finding_block *blocks; /* private */
};

/* A finding of this kind with count 1 and nothing else known; NULL when memory is short. */
struct finding *finding_create(const char *kind);
void finding_destroy(struct finding *finding); /* NULL is allowed */

/* Copies that live as long as the finding. NULL gives NULL. */
const char *finding_string(struct finding *finding, const char *text);
const char *finding_format(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

struct finding_access *finding_add_access(struct finding *finding);
/* `stack` belongs to an access or to the object of `finding`. function_offset starts as -1. */
struct finding_frame *finding_add_frame(struct finding *finding, struct finding_stack *stack);
int finding_add_evidence(struct finding *finding,
			 const char *text); /* 0 or -errno; a repeat is 0 */

/* A name that is there gets the new value. 0 or -errno: -EINVAL for what is no such name. */
int finding_add_detail(struct finding *finding, const char *name, const char *value);
const char *finding_detail(const struct finding *finding, const char *name); /* or NULL */

/* Adds one occurrence: count, last, and the sample, which thins itself out evenly when it is full.
 * The thread is for the timeline; call it once per access of the pair with `counts` true only for
 * one of them. */
void finding_add_occurrence(struct finding *finding, uint64_t time, pid_t tid, bool counts);

/*
 * The stable id, computed from kind and code places (record/finding_id.c says how) and stored in
 * finding->id. Call it when the stacks are complete and symbolised, and again if they change.
 */
void finding_identify(struct finding *finding);

/* The text that stands for an access's code place in the id: "increment@counter.c+3". */
void finding_place(const struct finding_access *access, char *text, size_t size);

/* The frame that is shown as the place: the innermost one outside the C library, else frame 0;
 * NULL when the stack is empty. */
const struct finding_frame *finding_place_frame(const struct finding_access *access);

/* Length of a function's name without what GCC and Clang append to copies of it. */
size_t finding_function_length(const char *name);

/* Static names as they stand in the JSON form, and back; unknown text gives -1. */
const char *finding_class_name(enum finding_class certainty); /* "" for unclassed */
const char *finding_operation_name(enum finding_operation operation);
/* By whom, in words, in front of the thread. */
const char *finding_access_by(const struct finding_access *access);
const char *finding_object_kind_name(enum finding_object_kind kind);

/* Is the name that of a block without one, "13-byte block", as include/trapline/tool.h has it? The
 * size tells the same. */
bool finding_object_is_named_by_size(const struct finding_object *object);

int finding_class_parse(const char *name);
int finding_operation_parse(const char *name);
int finding_object_kind_parse(const char *name);

#endif
