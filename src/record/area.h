/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared area: all that the watched processes and the controller have in common.
 *
 *	+-----------------------+ 0
 *	| header                |  doorbell, configuration, counts
 *	+-----------------------+
 *	| area_limit[8]         |  budgets that the program's threads keep to
 *	+-----------------------+
 *	| area_process[64]      |  one for each watched process: its slots, its threads' credit
 *	+-----------------------+
 *	| area_hit[128]         |  one for each hit on its way: registers and the top of the stack
 *	+-----------------------+ sizeof(struct area)
 *
 * It is a sealed-size memory file made by the controller before the program starts, so nothing that
 * happens to the program loses what is in it. Inside the program its contents are never trusted
 * with control: no pointer is followed, every index is bounded before use, so a program that
 * scribbles over it harms findings alone. The controller copies a hit out before judging it.
 *
 * A hit's life, in one word `state` (number of the use, index of the process, state):
 *
 *	FREE -> FILLING	  the thread: from here on the record is its own
 *	FILLING -> HELD	  the thread, filled (release; pairs with the controller's acquire)
 *	HELD -> LEAVING	  the thread, when its hold is over: its own again, for exit_time
 *	LEAVING -> DONE	  the thread (release)
 *	HELD, DONE -> FREE  the controller, with the next number
 *
 * Each step is a compare-and-swap of the whole word, so who comes late changes nothing. What is a
 * thread's own (FILLING, LEAVING) stays so however long the thread is kept from running; only when
 * its process has ended does the controller take it back. tests/unit/record_protocol.c tries all
 * orders. When no record is free the newest hit is dropped and counted.
 */
#ifndef RECORD_AREA_H
#define RECORD_AREA_H

#include "base/rate.h"
#include "event/arch.h"
#include "insn/arch.h"
#include "record/allocation.h"
#include "record/filter.h"
#include "record/guard.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define AREA_MAGIC 0x6165726170617274ull /* "traparea" */
#define AREA_VERSION 20
#define AREA_PROCESSES 64
#define AREA_SLOTS EVENT_SLOTS /* of the hardware */
#define AREA_REGIONS 16 /* further slots, which a process with protection keys opens itself */
#define AREA_WATCHES (AREA_SLOTS + AREA_REGIONS)
#define AREA_HITS 128
#define AREA_STACK 6144	 /* bytes of stack noted with a hit */
#define AREA_VALUE 16	 /* bytes noted around the watched address */
#define AREA_OPMASKS 8	 /* mask registers */
#define AREA_NAME 16	 /* of a thread, with the final zero (TASK_COMM_LEN) */
#define AREA_CREDITS 128 /* threads share these by a hash of their identity */
#define AREA_SIZES 16	 /* sizes of heap blocks that are asked for */
#define AREA_BLOCKS 64	 /* heap blocks watched at a time */
#define AREA_LIMITS 8
#define AREA_PATTERN 64
#define AREA_ASKERS 16	  /* processes that are handed the area at a time */
#define AREA_IMAGES 256	  /* program files known; a power of two */
#define AREA_ROUTINES 32  /* functions that threads begin with, known of a process */
#define AREA_NAMESPACE 32 /* "time:[4026531834]" */

/* Which processes the controller hands the area to: none, those of its own user, all. */
enum area_answers { AREA_ANSWERS_NONE, AREA_ANSWERS_USER, AREA_ANSWERS_ALL };

/* Name of the environment variable that leads a new process image to the area: "PID:FD:SECRET", of
 * the controller's descriptor, opened through /proc. */
#define AREA_VARIABLE "TRAPLINE_AREA"

enum area_hit_state {
	AREA_HIT_FREE,
	AREA_HIT_FILLING,
	AREA_HIT_HELD,
	AREA_HIT_LEAVING,
	AREA_HIT_DONE,
};

enum area_hit_flag {
	AREA_HIT_LATE = 1,   /* the kernel marked it asynchronous: not at the access */
	AREA_HIT_UNHELD = 2, /* the thread had no credit left, or the slot wants no hold */
	/* No hit but a notice, whose thread waits until the record is taken back: */
	AREA_HIT_THREAD = 4, /* a thread begins; `address`: its thread pointer */
	AREA_HIT_BLOCK = 8,  /* a heap block was allocated at `address`, of `size` bytes */
	AREA_HIT_FREED = 16, /* the watched block at `address` is about to be freed */
	/* Of hits again: */
	AREA_HIT_JUDGED = 32,	/* the filter has let it pass */
	AREA_HIT_BEFORE = 64,	/* `before` is known */
	AREA_HIT_REGION = 128,	/* of a region: the access is known, access_pc and so on */
	AREA_HIT_OPMASKS = 256, /* `opmask` is known */
	/* A notice again: `access` is an enum guard_event, at or about a guarded block. */
	AREA_HIT_GUARD = 512,
	/* Of hits: SIGTRAP is open in the thread again when its handler returns. */
	AREA_HIT_OPEN = 1024,
	AREA_HIT_LOSS = 2048, /* others were lost since its entry, from before it or after it */
	/* Neither hit nor notice, but a thread that waits until the record is taken back, not for
	 * long (area_births): one that is about to begin the function at `registers.pc`; the one
	 * that created it, about to return there from pthread_create(). */
	AREA_HIT_NEWBORN = 4096,
	AREA_HIT_CREATOR = 8192,
	/* Of notices: of `registers` those that a call leaves as they are are known, and not the
	 * pc, the stack pointer and the frame pointer alone. */
	AREA_HIT_KEPT = 16384,
};
#define AREA_HIT_BIRTH (AREA_HIT_NEWBORN | AREA_HIT_CREATOR)
#define AREA_HIT_NOTICE (AREA_HIT_THREAD | AREA_HIT_BLOCK | AREA_HIT_FREED | AREA_HIT_GUARD)

/* Registers as src/insn numbers them. */
struct area_registers {
	uint64_t general[INSN_GENERAL];
	uint64_t pc;
	uint64_t flags;
	uint64_t fs_base; /* the thread pointer; 0: not known */
};

/* Of these, as many as lie in the page of the first. */
static inline size_t area_value_length(uint64_t address)
{
	size_t left = 4096 - address % 4096;

	return left < AREA_VALUE ? left : AREA_VALUE;
}

struct area_hit {
	_Atomic uint64_t state;
	_Atomic uint64_t exit_time; /* CLOCK_MONOTONIC ns when the hold ended; once DONE */
	uint64_t entry_time;	    /* when the handler began */
	uint64_t identity; /* of the thread: its kernel id, or fs base where no call is safe */
	pid_t tid;	   /* 0: not known */
	uint32_t process;  /* index; in a copy: by whom the record was claimed */
	uint32_t slot;
	uint32_t generation;
	uint32_t flags;
	uint32_t value_length;
	uint32_t stack_length;
	uint64_t address; /* as the kernel told it; of a region: of the access */
	uint64_t access_pc;
	uint32_t access, access_length;
	uint64_t size;	 /* of a notice; of AREA_HIT_GUARD: the offset, signed */
	uint64_t number; /* by the filter; 0: not numbered yet; of AREA_HIT_GUARD: the block */
	uint64_t before; /* the watched bytes as the hit before left them */
	uint64_t serial; /* order of the process's hits */
	uint64_t lost;	 /* of them, for want of a record, when this one's handler began */
	struct area_registers registers;
	uint8_t value[AREA_VALUE]; /* from value_address on */
	uint64_t value_address;
	uint64_t value_until; /* CLOCK_MONOTONIC ns right after `value` was read; 0: not known */
	uint64_t stack_address;
	char thread[AREA_NAME];	       /* its name; empty: not known */
	uint64_t opmask[AREA_OPMASKS]; /* k0 … k7, with AREA_HIT_OPMASKS */
	struct guard_told block;       /* of AREA_HIT_GUARD alone */
	uint8_t stack[AREA_STACK];
};

/* By what a hold is paid that is made whatever a thread has saved up: by the thread, afterwards; by
 * what the controller lends a process at its start, which counts it. */
#define AREA_HITS_UNBOUND UINT32_MAX
#define AREA_ANSWER_OWED 1u
#define AREA_ANSWER_LENT 2u

/*
 * What a slot does with its hits. The controller writes the other fields while `generation` is even
 * and makes it odd last; a handler acts only on hits that carry the present generation.
 */
struct area_slot {
	_Atomic uint32_t generation;
	_Atomic uint32_t turn; /* futex: raised to end the holds of this slot early */
	_Atomic uint32_t hits; /* of this generation */
	uint32_t hold_limit;   /* hits beyond this many pass unrecorded; or AREA_HITS_UNBOUND */
	uint64_t hold;	       /* ns, at least … */
	uint64_t hold_most;    /* … and at most, growing with the time waited for the hit */
	uint64_t hold_whole;   /* ns that a hold is not shortened to less than for what it delays */
	/* From `meeting_from` until `meeting_until`, ns, another thread is expected: who comes in
	 * that time is held until its end. `rhythmic`: others are hardly held. */
	_Atomic uint64_t meeting_from, meeting_until;
	_Atomic uint32_t rhythmic;
	uint32_t answered; /* AREA_ANSWER_…: each hit is held, and the controller ends its hold */
	/* ns of what a thread has saved up that holds here leave it. It may grow while the slot is
	 * armed. */
	_Atomic uint64_t reserve;
	uint64_t armed_at;	 /* CLOCK_MONOTONIC ns */
	_Atomic uint64_t owner;	 /* identity of the first thread that came; 0: none yet */
	_Atomic uint32_t alone;	 /* holds; as long as `shared` is 0 all of that thread's */
	_Atomic uint32_t shared; /* another thread has come */
	uint64_t address;
	uint32_t length;
	uint32_t patience; /* ns a thread may wait for a free record; 0: the hit is dropped */
	uint32_t is_signed;
	uint32_t unfiltered; /* its hits are sent whatever the filter says */
	uint32_t values;     /* the watched bytes are read at each hit */
	uint32_t certain; /* a hit that passes the filter is one that is wanted: it may be numbered
			   */
	_Atomic uint32_t
		quota; /* the hit at which a handler rings, for the budget's sake; 0: none */
	_Atomic uint64_t inside; /* ns that handlers took, of this generation, without … */
	_Atomic uint64_t waited; /* … what they waited and held their thread */
	/* By how much each hit of this window has changed the watched bytes; `uneven`: not by the
	 * same. */
	_Atomic uint64_t stride;
	_Atomic uint32_t strides, uneven;
	_Atomic uint32_t last_known;
	_Atomic uint64_t last; /* the watched bytes as the last hit left them */
	/* Times that it has watched again after a rest: what a thread with an address of its own
	 * saw before is not what the last write left. */
	_Atomic uint32_t rests;
	/* Of a region. The error is the process's answer, -errno. */
	uint32_t region_access;
	_Atomic int32_t region_error;
	/* The generation whose hits a thread's handlers make themselves, one after the other, by
	 * their own frames (handler/own_frame.h), and since when: the watch is to rest. */
	_Atomic uint32_t framed;
	_Atomic uint64_t framed_at; /* ns */
};

enum area_process_state {
	AREA_PROCESS_FREE,
	AREA_PROCESS_CLAIMED,	/* being filled by the process */
	AREA_PROCESS_ANNOUNCED, /* asks to be watched */
	AREA_PROCESS_WATCHED,	/* go */
	AREA_PROCESS_LEFT,	/* not watched, or not any longer */
	AREA_PROCESS_GONE,	/* has said good-bye, and waits until it is LEFT */
	AREA_PROCESS_LATE,	/* asks to be watched once it has lived for a while, and goes on */
};

/*
 * What processes may wait at their start until they are watched: so many ns a second, all of them
 * together. When it is used up they go on at once as LATE, and the controller comes to those that
 * live for AREA_LATE_AGE. A process is as likely as not to live as long again as it has lived, and
 * being watched costs it and the controller a millisecond or two: a hundredth of that.
 *
 * The first process is the program that was asked for, or a shell or env(1) that executes it: its
 * first AREA_SPARED_STARTS waits are neither refused nor charged.
 */
struct area_waits {
	_Atomic uint32_t on; /* 0: each waits */
	struct rate rate;
	uint64_t earned;	 /* see base/rate.h */
	_Atomic uint64_t waited; /* ns, so far */
	_Atomic uint32_t passed; /* times that one went on at once, … */
	_Atomic uint32_t ended;	 /* … and that it ended before it was watched */
	_Atomic pid_t first;	 /* as it calls itself; 0: none has begun */
	_Atomic uint32_t starts; /* of that one */
};
#define AREA_SPARED_STARTS 8
#define AREA_LATE_AGE 100000000u /* ns */

/* Which allocations and frees give notice. Written by the controller at any time. */
struct area_heap {
	_Atomic uint64_t size[AREA_SIZES];   /* 0: none wanted */
	_Atomic uint64_t block[AREA_BLOCKS]; /* watched now; 0: free */
	_Atomic uint32_t sizes, blocks;	     /* entries in use lie below these */
};

/*
 * Threads that are created are told of, and wait for AREA_BIRTH_WAIT at most, with who created
 * them, while it is asked: of each function that threads begin with the first AREA_BIRTHS_TOLD.
 */
enum area_births_wish {
	AREA_BIRTHS_NEVER,
	AREA_BIRTHS_ASKED,
	AREA_BIRTHS_NOT_NOW, /* what is created meanwhile counts as passed */
};

struct area_births {
	_Atomic uint32_t
		wish; /* enum area_births_wish; the controller's, and of who waited in vain */
	_Atomic uint32_t passed; /* not told of meanwhile */
	struct area_routine {
		_Atomic uint64_t start; /* 0: free */
		_Atomic uint32_t told;
	} routine[AREA_ROUTINES];
};
#define AREA_BIRTHS_TOLD 48
#define AREA_BIRTH_WAIT 8000000u /* ns */

struct area_credit {
	_Atomic uint64_t until; /* time up to which this thread's holds are paid for */
	_Atomic uint64_t owner; /* identity of the thread that used it last; 0: none */
	_Atomic uint64_t held;	/* ns that its threads were held */
	/* A second, of the thread that wakes most often of those whose identities hash to it, as
	 * the controller counted last; 0: not known. */
	_Atomic uint32_t wakes;
};

enum area_limit_state {
	AREA_LIMIT_FREE,
	AREA_LIMIT_TAKEN, /* being filled */
	AREA_LIMIT_ON,
	AREA_LIMIT_OFF, /* not kept any more; the entry is not used again */
};

/* Who shares the budget. */
enum area_limit_each {
	AREA_EACH_TREE, /* every process that shares the area */
	AREA_EACH_PROCESS,
	AREA_EACH_THREAD,
};

/*
 * A budget. `state` is stored last (release) and read first; after that only `rate`, `period` and
 * what came of it change. Whoever pauses sleeps on `changed`.
 */
struct area_limit {
	_Atomic uint32_t state;
	_Atomic uint32_t changed; /* futex: raised to let pausing threads look again */
	uint32_t counter;	  /* enum tl_counter */
	uint32_t each;
	struct rate rate;
	uint64_t period;
	uint64_t earned;	    /* of AREA_EACH_TREE: see base/rate.h */
	char threads[AREA_PATTERN]; /* empty: all */
	_Atomic uint64_t looks;
	_Atomic uint64_t used;
	_Atomic uint64_t pauses;
	_Atomic uint64_t paused; /* ns */
	_Atomic uint64_t longest;
	_Atomic uint64_t held;	   /* looks in a held section: not paused */
	_Atomic uint64_t filtered; /* looks under a system-call filter: not paused */
	_Atomic uint64_t late;
};

struct area_process {
	_Atomic uint32_t state; /* futex */
	_Atomic uint32_t quiet; /* no system call may be made (process/restriction.h) */
	pid_t pid; /* of its owner, as that calls itself; 0: free (program/entries.h) */
	pid_t parent;
	uint64_t start_time;	/* CLOCK_MONOTONIC ns of the announcement */
	_Atomic uint32_t waits; /* for its go: nothing runs in it that it has not announced */
	_Atomic uint64_t serial;
	_Atomic uint32_t dropped;   /* hits without a free record */
	_Atomic uint32_t stale;	    /* hits of an older generation */
	_Atomic uint32_t over;	    /* hits beyond the slot's limit */
	_Atomic uint32_t delivered; /* all hits */
	_Atomic uint32_t own;	    /* hits by the handler's own frames, taken away */
	_Atomic uint64_t handling;  /* ns of CPU time in handlers */
	_Atomic uint64_t held;	    /* ns of holds */
	_Atomic uint64_t queued;    /* ns that work waited meanwhile, as record/delay.h has it */
	_Atomic uint64_t longest;   /* ns of one hold */
	_Atomic uint32_t looks;	    /* signals of limits */
	_Atomic uint32_t births;    /* of threads, by pthread_create() and thrd_create() */
	_Atomic uint32_t answered;  /* futex: raised when a notice was taken back */
	_Atomic uint32_t unnoticed; /* notices that could not be given or had no answer */
	_Atomic uint32_t threads;   /* threads give notice when they begin */
	struct area_births newborn;
	uint64_t proof_address; /* in its own memory, where `proof` is while it is that program */
	uint64_t proof;
	uint64_t thread_pointer; /* of the thread that announced the process; 0: not known */
	struct area_heap heap;
	_Atomic uint64_t allocations; /* address of its struct allocation_table; 0: none */
	_Atomic uint32_t allocations_noted;
	_Atomic uint32_t allocations_passed;   /* their time had not been earned */
	_Atomic uint32_t allocations_replaced; /* by another block of the same place */
	struct guard_process guard;
	_Atomic uint32_t unsent; /* hits counted at their place whose record found no room */
	struct area_slot slot[AREA_WATCHES];
	struct area_credit credit[AREA_CREDITS];
	struct area_credit newcomers; /* of all threads without an account (allowance/credit.h) */
	_Atomic uint32_t lanes;	      /* half of its threads, at least 1: what `newcomers` earns */
	struct filter_process filter;
	uint64_t limit_earned[AREA_LIMITS]; /* of AREA_EACH_PROCESS */
	uint64_t limit_clock[AREA_LIMITS];  /* ns of the process's CPU time charged so far */
	uint64_t children_time; /* ns of CPU time of the children it has waited for, as last seen */
	/* Regions that it has taken from us by restricting its own calls (region/lost.h). */
	_Atomic uint32_t regions_ended, regions_frozen;
	/* Hits begin a restartable sequence of it anew for ever (handler/sequence.h). */
	_Atomic uint32_t endless;
};

struct area {
	uint64_t magic;
	uint32_t version;
	uint32_t size;
	_Atomic uint32_t doorbell; /* futex: raised whenever the controller has something to do */
	_Atomic uint32_t waiting;  /* the controller sleeps on the doorbell */
	_Atomic uint32_t life;	   /* of the controller: see area_is_closed() */
	/* Somebody has waited for the controller in vain: nobody waits until it clears this. */
	_Atomic uint32_t unanswered;
	_Atomic uint32_t without_entry; /* processes that found no free entry */
	_Atomic uint32_t withdrawn;	/* processes that are not to be watched any longer */
	pid_t controller;
	int32_t controller_fd;	 /* of the area, in the controller: for locators */
	pid_t root;		 /* the program that made this area itself; 0: the controller did */
	uint32_t hold_parts;	 /* of a thread's time that holds may take, parts per 10,000 */
	uint64_t announce_bound; /* ns a process waits for its go */
	uint64_t credit_cap;	 /* ns of its own time a thread may save up for holds */
	uint64_t hold_most;	 /* ns of one hold; 0: a second. Read when a process begins */
	uint32_t follow;	 /* programs executed are to be watched too */
	_Atomic uint32_t forking; /* children that have not announced themselves yet, at most */
	_Atomic uint32_t answers; /* the controller hands the area to whom is noted here: */
	_Atomic int32_t asker[AREA_ASKERS];   /* src/contact/ask.c; 0: free */
	uint64_t secret;		      /* known to those alone that map the area */
	uint32_t user, group;		      /* effective, of the controller */
	_Atomic uint32_t traps_without_cause; /* SIGTRAPs that were dropped: src/signal/cause.h */
	_Atomic uint32_t hits_gone;	      /* of processes that had ended their watching */
	_Atomic uint32_t unentered;  /* programs executed that our library cannot be loaded into */
	_Atomic uint32_t unseen;     /* children made by raw instructions, not watched */
	_Atomic uint32_t unreadable; /* programs executed where our library cannot be read */
	_Atomic uint64_t clock; /* CLOCK_MONOTONIC ns when the controller last looked; 0: not yet */
	char time_namespace[AREA_NAMESPACE]; /* the controller's; empty: not known */
	_Atomic uint64_t image[AREA_IMAGES]; /* src/execution/image.c; 0: none */
	struct area_waits waits;
	_Atomic uint32_t opmask; /* what opmask_probe() said, + 1; 0: nobody has asked */
	struct allocation_choice allocations;
	struct guard_choice guard;
	_Atomic uint32_t limits_changed; /* raised with each change of a limit */
	_Atomic uint32_t next_hit;
	struct area_limit limit[AREA_LIMITS];
	struct filter filter; /* of lasting watches */
	struct area_process process[AREA_PROCESSES];
	struct area_hit hit[AREA_HITS];
};

/*
 * Has the controller gone? Then nothing is waited for and handlers return at once.
 *
 * `life` is 0 until there is a controller, then the id of its thread, and has AREA_CLOSED set from
 * its end on: by itself, or by the kernel when it is killed, since that is the mark of a robust
 * futex whose owner died (program/life.c). So any process that maps the area sees the death at
 * once, whatever its user and pid namespace, without a system call.
 */
#define AREA_CLOSED 0x40000000u /* FUTEX_OWNER_DIED */
static inline bool area_is_closed(const struct area *area)
{
	return atomic_load_explicit(&area->life, memory_order_relaxed) & AREA_CLOSED;
}

static inline void area_close(struct area *area)
{
	atomic_fetch_or(&area->life, AREA_CLOSED);
}

/* Threads whose identities hash alike share one account, which only makes it stricter. */
static inline struct area_credit *area_credit_of(struct area_process *process, uint64_t identity)
{
	uint64_t hash = (identity * 0x9e3779b97f4a7c15ull) >> 32;

	return &process->credit[hash % AREA_CREDITS];
}

/* Never 0, and read once: whoever has the area may write 0 between a comparison and a division. */
static inline uint32_t area_hold_parts(const struct area *area)
{
	uint32_t parts = __atomic_load_n(&area->hold_parts, __ATOMIC_RELAXED);

	return parts ? parts : 1;
}

/* How long a thread may be held at `now` (ns) that has paid up to `until`, all together. */
static inline uint64_t area_credit_saved(const struct area *area, uint64_t until, uint64_t now)
{
	uint64_t parts = area_hold_parts(area);
	uint64_t age = until < now ? now - until : 0;

	return (age < area->credit_cap ? age : area->credit_cap) / 10000 * parts;
}

static inline enum area_hit_state area_hit_state(uint64_t state)
{
	return (enum area_hit_state)(state & 0xff);
}

/* Index of the process that claimed the record; of a free one it says nothing. */
static inline uint32_t area_hit_owner(uint64_t state)
{
	return (uint32_t)(state >> 8) & 0xff;
}

/* Signal data of our events: a mark, the process entry, the slot and its generation. Events of
 * limits have slots of their own, from AREA_SLOT_LIMIT on, and no generation. */
#define AREA_SLOT_LIMIT 0x40u
#define AREA_TAG_MARK 0x7a1cull
static inline uint64_t area_tag(uint32_t process, uint32_t slot, uint32_t generation)
{
	return AREA_TAG_MARK << 48 | (uint64_t)(process & 0xff) << 40 |
	       (uint64_t)(slot & 0xff) << 32 | generation;
}

/* Which limit's event it is; AREA_LIMITS and above: none's. */
static inline uint32_t area_tag_limit(uint64_t tag)
{
	return (uint32_t)(tag >> 32 & 0xff) - AREA_SLOT_LIMIT;
}

static inline bool area_tag_is_ours(uint64_t tag)
{
	return tag >> 48 == AREA_TAG_MARK && (tag >> 40 & 0xff) < AREA_PROCESSES &&
	       ((tag >> 32 & 0xff) < AREA_SLOTS || area_tag_limit(tag) < AREA_LIMITS);
}

/* The controller's side, or that of a program which starts one for itself. A new area and its
 * descriptor (close-on-exec), or -errno. */
int area_create(struct area **area, int *fd);
/* Map the area behind a descriptor, which stays open. 0 or -errno. */
int area_open(struct area **area, int fd);
void area_unmap(struct area *area);

/* The program's side; raw system calls only. Opens "PID:FD" through /proc, maps it, and closes the
 * descriptor again. -EINVAL when it is not an area of this version. */
int area_attach(struct area **area, const char *locator);

#define AREA_LOCATOR 48
/* "PID:FD:SECRET" of the area's controller; `pid` 0: it is to be asked for. */
void area_locator(const struct area *area, pid_t pid, char locator[static AREA_LOCATOR]);

#define AREA_PATH 64
/* "12:34" and "12:34:SECRET" become "/proc/12/fd/34". 0 or -EINVAL. */
int area_locator_path(const char *locator, char path[static AREA_PATH]);

/* Its first part; 0: not known. */
pid_t area_locator_pid(const char *locator);
/* The third part of a locator: shown by who asks for the area (src/contact/ask.c). 0 or -EINVAL. */
int area_locator_secret(const char *locator, uint64_t *secret);
/* ":SECRET" alone. */
void area_write_secret(char *at, uint64_t secret);
int area_read_secret(const char *text, uint64_t *secret);
/* The name of the memory file that shows that a process asks, and by which socket:
 * "trapline-ask-SECRET-FD". */
#define AREA_SIGN 48
#define AREA_SIGN_PREFIX "trapline-ask-"
void area_write_sign(char name[static AREA_SIGN], uint64_t secret, unsigned fd);
int area_read_sign(const char *name, uint64_t secret); /* the socket, or -EINVAL */

/* Both. Never blocks. */
void area_ring(struct area *area);

/* Claim a free hit record for a thread of this process; NULL when all are taken. *ticket is for the
 * rest. */
struct area_hit *area_hit_claim(struct area *area, uint32_t process, uint64_t *ticket);
void area_hit_publish(struct area_hit *hit, uint64_t ticket);
/* The hold is over. */
void area_hit_leave(struct area_hit *hit, uint64_t ticket, uint64_t now);

/* The controller's. */
/* Copies a record to memory that the program cannot write to, and bounds its lengths. The copy's
 * `state` is not to be used. */
void area_hit_copy(struct area_hit *to, const struct area_hit *from);
/* Take a record back that is HELD or DONE. False: its thread is about to change it. */
bool area_hit_take(struct area_hit *hit);
/* Frees a record in any state, once the process that claimed it has ended. */
void area_hit_reclaim(struct area_hit *hit);

#endif
