/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write your own detector. A tool is a shared object that `trapline run --tool ./mine.so --
 *PROGRAM` loads outside the program it watches: it may allocate, lock, and take its time. The
 *controller draws samples of what the program's threads access, watches the addresses the tool asks
 *for in every thread, holds a thread briefly at its access, and tells the tool which accesses of
 *different threads overlapped. `trapline race` is such a tool (src/race) and uses nothing else.
 *
 *	static int on_sample(void *state, const struct tl_access *access) { … return 1; }
 *	const struct tl_tool tl_tool = {
 *		.size = sizeof(struct tl_tool), .name = "mine", .sample = on_sample, …
 *	};
 *
 * The object exports `tl_tool`. All callbacks run in one thread, one at a time. Pointers handed to
 * a callback are valid until it returns. Callbacks left NULL are not called.
 *
 * Structures grow at their end: `size` says what the other side knows, a tool checks it before it
 * uses a field newer than itself.
 */
#ifndef TRAPLINE_TOOL_H
#define TRAPLINE_TOOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trapline/event.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TL_TOOL_VERSION 1

/* How the instruction makes its access, beside TL_READ, TL_WRITE and so on. */
#define TL_TRAIT_PLAIN 0x1u	/* one mov to or from a general register, or a scalar one */
#define TL_TRAIT_STRING 0x2u	/* movs, stos, cmps … */
#define TL_TRAIT_VECTOR 0x4u	/* more than 8 bytes, or elements of a vector */
#define TL_TRAIT_UNALIGNED 0x8u /* not naturally aligned: the CPU may split it */
#define TL_TRAIT_UPDATE 0x10u	/* a read-modify-write without LOCK */
#define TL_TRAIT_STACK 0x20u	/* push, pop, call, ret */
/* A string function of the C library loads more at a time than it may be asked about, and what it
 * is asked about could not be told. */
#define TL_TRAIT_UNBOUNDED 0x40u

/* What the code around an access does, as far as straight code shows it. */
#define TL_AROUND_UPDATE 0x1u /* a load and a store of the same bytes: an update in two steps */
#define TL_AROUND_RETRY 0x2u  /* the load of what a LOCK CMPXCHG of the same bytes expects there */

#define TL_INTEREST_MAX 256u

struct tl_stack; /* opaque: what was noted of the thread's stack */

struct tl_access {
	size_t size;
	pid_t pid;
	pid_t tid;	   /* 0: could not be asked for (a seccomp filter) */
	uint64_t identity; /* tells threads of one process apart, also without a tid */
	uint64_t pc;	   /* the instruction that makes the access */
	uint64_t address;  /* first byte it touches */
	uint64_t length;   /* bytes it touches; of one element for string instructions */
	unsigned access;   /* TL_READ | TL_WRITE, TL_ATOMIC, TL_KERNEL, TL_GUESSED */
	unsigned traits;   /* TL_TRAIT_… */
	uint64_t time;	   /* CLOCK_MONOTONIC, ns */
	bool before;	   /* the thread was held before the access, not after it */
	bool value_known;  /* `value`: the first 8 bytes from `address`, after the access */
	uint64_t value;
	const struct tl_stack *stack; /* NULL for samples */
};

/* What to watch, and how. */
struct tl_watch {
	size_t size;
	pid_t pid;
	uint64_t address;
	unsigned length;   /* 1, 2, 4 or 8, the address a multiple of it */
	unsigned access;   /* TL_WRITE, or TL_READ | TL_WRITE; TL_EXEC for code */
	bool widen;	   /* watch reads too while a writer is held */
	unsigned hits;	   /* give up after so many; 0: the controller's choice */
	uint64_t hold;	   /* ns to hold each thread; 0: the controller's choice */
	uint64_t window;   /* ns to watch at most; 0: the controller's choice */
	unsigned priority; /* among those waiting; higher goes first */
};

/* Two threads were at the same bytes at the same time: neither had done anything after (or, with
 * `before`, nothing since deciding on) its access when the other made its own. */
struct tl_pair {
	size_t size;
	const struct tl_access *first, *second; /* in the order their holds began */
	bool changed; /* the value changed between a thread's read and its later write */
	/* Between the accesses another may have been made to the same bytes, of a thread that found
	 * there what the first (the second) had written: it may be what put them in order. A thread
	 * can lose its CPU between an access and its hold, so the second may have come first. */
	bool first_seen, second_seen;
};

struct tl_frame {
	uint64_t pc;
	const char *module;   /* path, or NULL */
	uint64_t offset;      /* in the module, as linked */
	const char *function; /* or NULL */
	const char *file;     /* or NULL */
	unsigned line;
	bool inlined;
};

enum tl_certainty {
	TL_POSSIBLE = 1,
	TL_LIKELY,
	TL_DEFINITE,
};

/* What debug information, symbols and compiler metadata say of an access. */
enum tl_atomicity {
	TL_ATOMICITY_UNKNOWN,
	TL_ATOMICITY_ATOMIC,   /* an atomic operation of the language or a library of them */
	TL_ATOMICITY_PLAIN,    /* an ordinary access */
	TL_ATOMICITY_VOLATILE, /* an ordinary access to a volatile, which some take for atomic */
};

/* A finding. The controller adds stacks, symbols and the object, gives it an id, counts repeats and
 * applies suppressions. */
struct tl_report {
	size_t size;
	const char *kind; /* "data-race", or the tool's own: lower case and dashes */
	enum tl_certainty certainty;
	const char *message; /* one sentence, or NULL */
	const char *const *evidence;
	size_t evidence_count;
	const struct tl_access *const *accesses;
	size_t access_count;
	unsigned rank;	       /* among those of one certainty lower ones come first; 0: none */
	const uint32_t *facts; /* a number of the tool's own for each access, which the finding
				  keeps; or NULL */
};

struct tl_host; /* opaque */

struct tl_services {
	size_t size;
	/* Ask for an address to be watched. 0, -EBUSY when too many wait already, or -EINVAL. */
	int (*watch)(struct tl_host *host, const struct tl_watch *watch);
	/* Read the program's memory without stopping it. Bytes read or -errno. */
	ssize_t (*read)(struct tl_host *host, pid_t pid, uint64_t address, void *to, size_t length);
	/* Name a place. `frames` receives it with the functions inlined there, innermost first.
	 * Strings live as long as the host. Returns how many. */
	int (*symbolise)(struct tl_host *host, pid_t pid, uint64_t pc, struct tl_frame *frames,
			 size_t max);
	/* The symbolised stack of an access that has one. */
	int (*stack)(struct tl_host *host, const struct tl_access *access, struct tl_frame *frames,
		     size_t max);
	/* *reason is static text or lives as long as the host. */
	enum tl_atomicity (*atomicity)(struct tl_host *host, const struct tl_access *access,
				       const char **reason);
	/* Does the file whose code is at `pc` come from compilers alone that keep a relaxed atomic
	 * load and store two instructions? (GCC does; Clang and rustc make one update of them.) */
	bool (*keeps_atomics_apart)(struct tl_host *host, pid_t pid, uint64_t pc);
	/* 0; 1 when it was a repeat or is suppressed; -errno. */
	int (*report)(struct tl_host *host, const struct tl_report *report);
	/* A line on trapline's standard error. */
	void (*log)(struct tl_host *host, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
	/* Add to a count that --stats shows; `name` is static text. */
	void (*count)(struct tl_host *host, const char *name, uint64_t amount);
	/* The user's value of `--tool-option NAME=VALUE`, or NULL. */
	const char *(*option)(struct tl_host *host, const char *name);
	/* TL_AROUND_…, of an access with a stack. Decodes code: for what is to be reported. */
	unsigned (*around)(struct tl_host *host, const struct tl_access *access);
	/* Path of the program file or library that `address` lies in, its data included; NULL: in
	 * none, as the heap and the stacks. Lives as long as the host. */
	const char *(*module)(struct tl_host *host, pid_t pid, uint64_t address);
};

struct tl_tool {
	size_t size;	  /* sizeof(struct tl_tool) */
	unsigned version; /* TL_TOOL_VERSION */
	const char *name;
	const char *summary; /* one line for `trapline run --help` */
	/* Before the program starts. Negative: give up. *state is handed to the others. */
	int (*start)(struct tl_host *host, const struct tl_services *services, void **state);
	/* A running thread was seen about to make this access. */
	void (*sample)(void *state, const struct tl_access *access);
	/* A watched place was accessed. */
	void (*hit)(void *state, const struct tl_access *access);
	void (*pair)(void *state, const struct tl_pair *pair);
	/* A watch ended after `hits` hits by `threads` threads. */
	void (*unwatched)(void *state, const struct tl_watch *watch, unsigned hits,
			  unsigned threads);
	/* The program has ended. Last call. */
	void (*exit)(void *state);
	/* How much is it worth to hold a thread at this instruction, to see who else comes to what
	 * it accesses? 0: not at all. Compared with the answers for other instructions; at most
	 * TL_INTEREST_MAX. NULL: all are equal. */
	unsigned (*interest)(void *state, pid_t pid, uint64_t pc);
};

#ifdef __cplusplus
}
#endif
#endif
