/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write your own detector. A tool is a shared object that `trapline run --tool ./mine.so` loads
 * outside the program it watches; it exports `tl_tool`. The controller draws samples of what the
 * program's threads access and tells what comes to the bytes that tools have watched: those that
 * they ask for by watch(), where threads are held briefly and pairs are told, or those that they
 * place themselves by arm(). `trapline race` is such a tool and uses nothing else.
 *
 *	static void hit(void *state, const struct tl_access *access) { … }
 *	const struct tl_tool tl_tool = {
 *		.size = sizeof(struct tl_tool), .version = TL_TOOL_VERSION,
 *		.name = "mine", .hit = hit, …
 *	};
 *
 * Threads: all callbacks run in one thread, one at a time; only wake() may be called from another.
 * Nothing runs in the program or in a signal handler, so a tool may allocate, lock and take its
 * time, within reason: what it does not look at in time is lost and counted.
 * Ownership: what a callback is handed is valid until it returns; callbacks left NULL are not
 * called. Times are ns of CLOCK_MONOTONIC, lengths are bytes. Services return 0 or more, or a
 * negative error number.
 * Several tools (`--tool race,./mine.so`) share slots, samples and budget.
 * Structures grow at their end: `size` says what the other side knows, and a tool checks it before
 * it uses a member newer than itself.
 *
 * docs/tools.md tells all of it; examples/tool_single_writer.c is a whole tool.
 */
#ifndef TRAPLINE_TOOL_H
#define TRAPLINE_TOOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trapline/access.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TL_TOOL_VERSION 1

/* What the code around an access does, as far as straight code shows it. */
#define TL_AROUND_UPDATE 0x1u /* a load and a store of the same bytes: an update in two steps */
#define TL_AROUND_RETRY 0x2u  /* the load of what a LOCK CMPXCHG of the same bytes expects there */

#define TL_INTEREST_MAX 256u
#define TL_HITS_MAX 1024u /* of a watch that a tool places itself */

/* struct tl_tool's `wants` */
#define TL_WANTS_OWN_STACK 0x1u /* samples of accesses to the thread's own stack, too */
#define TL_WANTS_BLOCKS 0x2u	/* to know of some of the heap's blocks: born() and freed() */
#define TL_WANTS_GUARDS 0x4u	/* blocks of the heap are chosen and guarded: struct tl_guarded */
#define TL_WANTS_OUTSIDE 0x8u	/* with that: processes without guards too, see interposed() */

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
	/* For arm() alone. */
	pid_t tid;	 /* watch this thread alone; 0: all of the process, later ones too */
	uint64_t cookie; /* the tool's own name for the watch, not 0 */
	/* Placed although the budget is spent. With neither `hits` nor `window` it also stays until
	 * disarm(), whatever it costs: what a user has asked for by name. */
	bool urgent;
	/* For arm() alone: what the kernel does on the thread's behalf is passed over, the frames
	 * of signals included, as where the kernel lets nobody see it. */
	bool program_only;
};

/* A block of the heap, of those that were chosen to be told of. The thread waits, for a bounded
 * time, until the callback returns: watches that are armed in it see all that comes after. */
struct tl_block {
	size_t size;
	pid_t pid;
	uint64_t address, length; /* length: as asked for; 0: not known */
	uint64_t time;		  /* CLOCK_MONOTONIC, ns */
	bool written; /* calloc(), realloc(): not all of it is as the allocator left it */
	/* Who: pid, tid, time, pc and stack; no access. For stack() and unwind(). */
	const struct tl_access *from;
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
	const char *strategy; /* what led to the watch that both came to; static text, or NULL */
};

/* A frame of a thread's stack by addresses. */
struct tl_frame_place {
	uint64_t pc;	   /* frame 0: the instruction that comes next; callers: return addresses */
	uint64_t function; /* first instruction; 0: not known */
	uint64_t cfa;	   /* its canonical frame address: the stack pointer before the call */
	uint64_t return_slot; /* where its return address stands; 0: not known */
	/* Registers as they were at `pc`, in the order of the encoding, as far as `known` says, a
	 * bit each. */
	uint64_t general[16];
	uint16_t known;
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
	TL_ATOMICITY_MIXED,    /* an atomic operation is in its statement: it may be that one */
	/* An ordinary access to a volatile in a function that orders memory itself, as locks by
	 * hand do. */
	TL_ATOMICITY_ORDERED,
};

/* One moment of a block's life. `pcs`: innermost first, the first one the instruction, the others
 * return addresses; none: not known. */
struct tl_moment {
	uint64_t time;	    /* CLOCK_MONOTONIC, ns; 0: not known, or it did not happen */
	pid_t tid;	    /* 0: not known */
	const char *thread; /* name, or NULL */
	const uint64_t *pcs;
	size_t count;
};

/* What a finding is about, where the tool knows better than symbols do. */
struct tl_object {
	const char *kind; /* "heap", "stack", "global", "tls" or "other" */
	const char *name; /* as "13-byte block"; or NULL */
	uint64_t address, size;
	struct tl_moment made, ended; /* allocated and freed; of a frame: ended is its return */
};

/* What else the finding tells, as a member of its JSON form and a line of its text. */
struct tl_detail {
	const char *name;  /* lower case, digits, dashes */
	const char *value; /* any text */
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
	const struct tl_object *object; /* NULL: symbols and stacks say what the first access is
					   of */
	const struct tl_detail *details;
	size_t detail_count;
	const char *strategy;		/* what led to it; or NULL */
	const struct tl_moment *stacks; /* of each access, used where it has no noted stack: the
					   pcs alone count; or NULL */
};

/* What is mapped at an address. */
struct tl_memory {
	uint64_t start, end;
	uint64_t device, inode, offset; /* of the file, where there is one; `offset` of `start` */
	bool shared;			/* stores are seen by other processes */
	bool writable;
};

/* What an expression means. */
struct tl_expression {
	uint64_t address, length;
	uint64_t block_size; /* of heap:SIZE@function, else 0: `address` is an offset in … */
	uint64_t maker, maker_end; /* … blocks of that size made by this function */
	bool thread_local_copy;	   /* each thread has its own */
};

/*
 * Guarded blocks: some of the heap's blocks, chosen by where they are allocated, whose bytes before
 * and behind are the program's no more than anybody's, and whose memory is not given out again for
 * a while after they are freed. Programs have them where a tool has TL_WANTS_GUARDS.
 */
enum tl_guarded_event {
	TL_GUARDED_BORN = 1,	    /* made; the program does not know it yet */
	TL_GUARDED_FREED,	    /* freed; kept from the allocator */
	TL_GUARDED_FREED_TWICE,	    /* what follows: free() of it again … */
	TL_GUARDED_FREED_INSIDE,    /* … of an address inside … */
	TL_GUARDED_FREED_NO_BLOCK,  /* … of what is none … */
	TL_GUARDED_FREED_OTHERWISE, /* … by the wrong function, or as one of `length` bytes */
	TL_GUARDED_BROKEN_FRONT,    /* bytes before it, … */
	TL_GUARDED_BROKEN_BACK,	    /* … behind it … */
	TL_GUARDED_BROKEN_FREED,    /* … or of the freed block are no longer what they were */
};

enum tl_guarded_family {
	TL_GUARDED_MALLOC,
	TL_GUARDED_NEW,
	TL_GUARDED_NEW_ARRAY,
	TL_GUARDED_NEW_ALIGNED, /* with an alignment as its argument */
	TL_GUARDED_NEW_ARRAY_ALIGNED,
};

struct tl_guarded {
	size_t size;
	pid_t pid;
	uint64_t serial;  /* of the block in its process, never 0 */
	uint64_t address; /* 0: it is about none */
	uint64_t length;  /* as asked for */
	/* Memory from `front` to `back` is the block's alone; `front` <= `address`. */
	uint64_t front, back;
	uint64_t context; /* tells allocation contexts apart */
	enum tl_guarded_family family;
	bool freed;
	bool zeroed;   /* by calloc() */
	bool told;     /* of its birth, and the thread waited until that was answered */
	bool on_pages; /* of its own: see guard_faults() */
	struct tl_moment made, ended;
	uint64_t checked; /* CLOCK_MONOTONIC ns: nothing was broken then */
	/* Address of a copy of a freed block's first bytes, as they were then; 0: none. */
	uint64_t kept, kept_length;
	uint64_t copied; /* bytes at its start that realloc() fills before the program has it */
};

/* What a thread tells that waits meanwhile. */
struct tl_guarded_news {
	size_t size;
	enum tl_guarded_event event;
	const struct tl_guarded *block;
	const struct tl_access *from; /* the call: its thread, time and stack; no access */
	uint64_t address;	      /* what was handed to free(), or the first broken byte */
	/* Of what is broken, up to the last; or what the deletion takes for the block's size, where
	 * it was made by the right function. */
	uint64_t length;
	enum tl_guarded_family freer; /* of TL_GUARDED_FREED_OTHERWISE: what frees such blocks */
};

/* How blocks are to be guarded; of several tools' wishes the most. */
struct tl_guarding {
	size_t size;
	bool all;    /* every block that finds room */
	bool births; /* told, as far as the budget allows; with `all`, of the first ones in any case
		      */
	uint64_t memory; /* bytes that may be kept from the program; 0: no opinion */
	bool pages;	 /* on pages of their own, as far as memory allows: see guard_faults() */
	uint32_t whole;	 /* with `all`: so many have all of that in any case; 0: 65,536 */
	uint64_t often; /* ns: a context is chosen less when it was chosen so lately; 0: a second */
};

/* Guarded blocks on pages of their own: who touches a freed one, or the page behind one, faults and
 * waits until somebody fills the page. */
struct tl_guard_faults {
	size_t size;
	int descriptor; /* of userfaultfd(2); the tool's to close */
	uint64_t start, length;
	/* Address of a uint32_t for each page. With TL_GUARD_PAGE_OPENS in it so many pages from
	 * there on are to be filled with zeroes at once, for a block that is being made; with
	 * TL_GUARD_PAGE_RUNS besides, every second one of twice so many. */
	uint64_t owner;
	/* Shared with the process, read and written by atomic operations. In each of `asks` words
	 * it asks for such pages to be filled before it touches them, by the first one's number +
	 * 1, and raises `bell` (a futex); the tool writes into the word behind `bell` what it has
	 * seen there. When the pages are filled it sets TL_GUARD_FILLED in the word, if that is
	 * still the same, and wakes whoever waits on it. Who is not answered in a second or two
	 * goes on without, and so does who comes later, until the bell has been seen. */
	uint32_t *asked;
	unsigned asks;
	uint32_t *bell;
	/* Shared with it, too: the tool sets it before it fills a page for who has touched it.
	 * Until then the process trusts that a page which it has emptied is empty. */
	uint32_t *touched;
};
/* A thread that waits in such a fault, as userfaultfd(2) told. */
struct tl_fault {
	size_t size;
	pid_t pid, tid;
	uint64_t address;
	bool write; /* UFFD_PAGEFAULT_FLAG_WRITE */
	int call;   /* the system call that the thread is in; negative: none that is known */
	/* Puts the page there and lets the thread go on. Called once, whatever comes of it. */
	void (*fill)(void *context);
	void *context;
};

#define TL_GUARD_FILLED 0x80000000u
#define TL_GUARD_PAGE 4096u
#define TL_GUARD_PAGE_OPENS 0x80000000u
#define TL_GUARD_PAGE_RUNS 0x40000000u

struct tl_host; /* opaque */

struct tl_services {
	size_t size;
	/* Ask for an address to be watched. 0, -EALREADY when it waits to be, -EBUSY when too many
	 * wait or what its last watch cost is not paid for, or -EINVAL. */
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
	/* Add to a count that --stats shows; `name` is static text, one of the tool's `counts` or
	 * another. */
	void (*count)(struct tl_host *host, const char *name, uint64_t amount);
	/* The user's value of `--tool-option NAME=VALUE`, or NULL. Best asked for in start(); of an
	 * option that no tool has asked for by the end of the run the user is told. */
	const char *(*option)(struct tl_host *host, const char *name);
	/* TL_AROUND_…, of an access with a stack. Decodes code: for what is to be reported. */
	unsigned (*around)(struct tl_host *host, const struct tl_access *access);
	/* Path of the program file or library that `address` lies in, its data included; NULL: in
	 * none, as the heap and the stacks. Lives as long as the host. */
	const char *(*module)(struct tl_host *host, pid_t pid, uint64_t address);

	/* Watches that the tool places itself. Nobody is paired. A watch lasts until disarm(), for
	 * `window` ns (0: no bound) or `hits` hits (0: TL_HITS_MAX); unwatched() tells when it
	 * ended by itself. Each hit calls hit() with the watch's cookie, in
	 * the order of their times as far as they have arrived; its thread goes on at
	 * once, or with `hold` not 0 when hit() returns, at most after so many ns. `widen` and
	 * `priority` mean nothing. */
	/* How many the tool may have in this process at a time: slots are shared with the other
	 * tools. */
	unsigned (*slots)(struct tl_host *host, pid_t pid);
	/* Armed in all threads (or `tid` alone) when it returns 0. -EBUSY: all slots are taken.
	 * -EAGAIN: the budget is spent, or a debugger is at it. -ESRCH: no such process or thread.
	 * -EEXIST: the cookie is in use. -EADDRINUSE: another tool watches some of the bytes, and
	 * the kernel sends one signal for both. -EINVAL, or the kernel's error. */
	int (*arm)(struct tl_host *host, const struct tl_watch *watch);
	void (*disarm)(struct tl_host *host, uint64_t cookie); /* unknown ones are no error */
	/* Call tick() soon. The one service that other threads of the tool may call. */
	void (*wake)(struct tl_host *host);
	/* The stack of a hit by addresses, innermost first: how many frames. */
	int (*unwind)(struct tl_host *host, const struct tl_access *access,
		      struct tl_frame_place *frames, size_t max);
	/* Percent of the budget that is spent: above 100 a tool places nothing new. */
	unsigned (*spent)(struct tl_host *host);
	/* The mapping around `address`. 0 or -ENOENT. */
	int (*memory)(struct tl_host *host, pid_t pid, uint64_t address, struct tl_memory *memory);
	/* The function around `pc`, wherever its frame changes: [*start, *end). 0 or -ENOENT. */
	int (*function)(struct tl_host *host, pid_t pid, uint64_t pc, uint64_t *start,
			uint64_t *end);
	/* What an expression of `trapline watch` means now, of data. `fs_base`: of the thread whose
	 * copy of a thread-local variable is meant, or 0. 0; -EAGAIN: it may mean something later
	 * (a module, a pointer); -ENOENT, -EINVAL: never. `error` receives a sentence. */
	int (*resolve)(struct tl_host *host, pid_t pid, const char *expression, uint64_t fs_base,
		       struct tl_expression *meaning, char *error, size_t size);
	/* The function at `pc` by the file's symbols alone, which takes less time than symbolise():
	 * for a thread that is held. NULL: not known. Lives as long as the host. */
	const char *(*function_name)(struct tl_host *host, pid_t pid, uint64_t pc);
	/* Of guarded blocks. Before the program starts: in start(). */
	void (*guard)(struct tl_host *host, const struct tl_guarding *guarding);
	/* The guarded block that has `address` between its `front` and `back`, freed ones too.
	 * False: there is none. What it points to is valid until the next call. */
	bool (*guarded)(struct tl_host *host, pid_t pid, uint64_t address,
			struct tl_guarded *block);
	/* From now on guard every block allocated by a call that returns to `caller` in a function
	 * that returns to `above` (0: whichever). 0, -EBUSY: no room for more, or -ESRCH. */
	int (*guard_always)(struct tl_host *host, pid_t pid, uint64_t caller, uint64_t above);
	/* Of a process that began, in process_began(): 0, -ENOENT: it has no such pages, or another
	 * error. */
	int (*guard_faults)(struct tl_host *host, pid_t pid, struct tl_guard_faults *faults);
	/* Of a thread that is neither stopped nor asked: its fs_base, for resolve(). 0: not known.
	 */
	uint64_t (*thread_pointer)(struct tl_host *host, pid_t pid, pid_t tid);
	/* Does a library of ours stand before the process's malloc()? Not in one that ran already
	 * or that no library can be loaded into: blocks are neither told nor guarded there. */
	bool (*interposed)(struct tl_host *host, pid_t pid);
	/* First instruction of the function that an expression of `trapline watch` names, as
	 * "libc.so.6:malloc". 0: not known. */
	uint64_t (*entry)(struct tl_host *host, pid_t pid, const char *expression);
	/* In hit(), of the hit that it is called for: is its thread still held there? What was
	 * armed before this was asked sees all that the thread does from the hit on. */
	bool (*held)(struct tl_host *host);
	/* Of a watch of all threads: it is armed in every thread, and each of its hits so far was
	 * told. False also where that is not known for certain. */
	bool (*unbroken)(struct tl_host *host, pid_t pid, uint64_t cookie);
	/* Of a watch of all threads: so many accesses has the kernel counted beyond the hits that
	 * were told, up to that which hit() is called for. Made by threads that block SIGTRAP by a
	 * system call of their own, by an instruction that trips another watch as well, or several
	 * by one system call. UINT64_MAX: not known, as after a call of the process by which
	 * memory becomes zero or a child's (madvise(2), mmap(2) at a fixed address, vfork(2)). */
	uint64_t (*untold)(struct tl_host *host, pid_t pid, uint64_t cookie);
	/* In born(), of its block: from now on block_lives() says whether it was not freed yet,
	 * also where freed() is not called, as the program's notice of it was lost. A hit of a
	 * block that lives when hit() is called came before its end. 0, -ENFILE: 64 blocks are
	 * kept, -ETIMEDOUT: the thread has not waited, or -ESRCH. */
	int (*keep_block)(struct tl_host *host, pid_t pid, uint64_t address);
	bool (*block_lives)(struct tl_host *host, pid_t pid, uint64_t address);
	/* Has the fault's page filled, and tells what access the thread makes then, with its stack
	 * and with registers from before it: `before` is set, no watchpoint is needed, and the
	 * thread is not held. Of a system call the first byte that it came to, guessed. What
	 * `access` points to is valid until the next call. Waits 100 ms at most. 0, -ETIMEDOUT:
	 * the thread did not go on in that time, -ENODATA: its instruction explains no such
	 * access, or another error of perf_event_open(2). */
	int (*complete_fault)(struct tl_host *host, const struct tl_fault *fault,
			      struct tl_access *access);
};

/* Both static text. */
struct tl_count {
	const char *name, *meaning;
};

struct tl_tool {
	size_t size;	  /* sizeof(struct tl_tool) */
	unsigned version; /* TL_TOOL_VERSION */
	const char *name;
	const char *summary; /* one line: what it looks for */
	/* Before the program starts. *state is handed to the others. Negative: give up, the program
	 * does not start; the reason is what it log()s meanwhile, or where it is silent -errno's.
	 */
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
	/* A process is watched from here on: before its program runs on. */
	void (*process_began)(void *state, pid_t pid);
	void (*process_ended)(void *state, pid_t pid);
	void (*tick)(void *state); /* some 50 times a second, and after wake() */
	unsigned slots; /* how many watches it would place at a time in a process, by arm(); 0: it
			   asks by watch() alone */
	unsigned wants; /* TL_WANTS_… */
	void (*born)(void *state, const struct tl_block *block);  /* allocated, nobody has it yet */
	void (*freed)(void *state, const struct tl_block *block); /* about to be given back */
	/* Of a guarded block. Its thread waits until this returns, but not for long. */
	void (*guarded)(void *state, const struct tl_guarded_news *news);
	/* What its counts mean, for --stats; the last one's name is NULL. NULL: nobody is told. */
	const struct tl_count *counts;
};

#ifdef __cplusplus
}
#endif
#endif
