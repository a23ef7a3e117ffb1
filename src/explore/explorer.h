/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing what to watch next, and what is known for that: of each process (struct explored), and
 * what tools asked for. The controller has one struct explorer; its thread alone touches it.
 *
 * What is remembered stands in history/memory.h, the numbers in history/weights.h, and what is done
 * with them in the strategies, choosing.c and stall_first.c, and in the two manners of the former.
 */
#ifndef EXPLORE_EXPLORER_H
#define EXPLORE_EXPLORER_H

#include "cost/budget.h"
#include "explore/heuristic.h"
#include "history/memory.h"
#include "hit/collect.h"

#define REQUESTS_MAX 64
#define REQUEST_AGE (300 * MILLISECOND) /* an address sampled longer ago may be something else */
#define PROBE_WORDS 64			/* looked at of one thread's next accesses */
#define BACKGROUND_MAX 16		/* threads known by name of those that seldom wake */

/* The last look-ahead from one pc by one thread: `key` is a hash of both, `time` is of
 * CLOCK_MONOTONIC, ns. */
struct foretold {
	uint64_t key, time;
};

struct probe_word {
	uint64_t pc; /* of the instruction that is to access it */
	uint64_t address, value;
	unsigned length; /* bytes */
};

/* Memory that a held thread is about to access (answer/probe.h). */
struct probe {
	const struct hit *hit;
	uint64_t until; /* when it is looked at again; 0: nobody is held for that */
	struct probe_word word[PROBE_WORDS];
	unsigned words;
};

/* A thread that seldom gets a CPU, in a process whose others do all the time, and the code that it
 * alone was seen in. */
struct background_thread {
	pid_t tid;
	bool seen; /* in the last look */
	struct sites sites, starts;
};

enum team_role { TEAM_NONE, TEAM_ENTRY, TEAM_FUNCTION, TEAM_PLACE };

/* What a slot watches, and why. */
struct slot_choice {
	uint64_t site;		  /* that its instruction was chosen for; 0: none … */
	bool start;		  /* … one of code_starts() */
	bool probes;		  /* who comes by is held to see whether its memory changes */
	enum heuristic heuristic; /* that led to the watch */
	/* Of a watch of what a call is handed, where a thread is held in front of the call: the
	 * slot that holds it, and the thread. NULL: none. */
	struct slot *caller;
	pid_t calling;
	enum team_role team; /* team/team.h */
	unsigned argument;   /* of TEAM_ENTRY: which one is the function */
	bool lasts;	     /* its window is longer than others': who comes is waited for */
	struct probe probe;
	/* Findings aimed at that had a chance in this watch, and a meeting: a bit each. */
	uint64_t chances, meetings;
};

/* What is known of a process to choose what to watch next. */
struct explored {
	struct memory memory;
	struct foretold foretold[FORETOLD_MAX];
	struct slot_choice choice[AREA_WATCHES]; /* by slot */
	uint64_t counted_at; /* the census after which background threads were looked for */
	bool armed_dear;     /* as it was when background threads were last looked for */
	/* CLOCK_MONOTONIC, ns: not before then … */
	uint64_t next;	       /* … is a single thread held again, */
	uint64_t next_request; /* an address watched that a tool asked for, */
	uint64_t next_all;     /* code watched in all threads, */
	uint64_t next_look;    /* looked at the stacks of sleeping threads */
	unsigned looks;	       /* such looks so far */
	struct background_thread background[BACKGROUND_MAX];
	unsigned background_count;
	struct team *team;   /* NULL: none is expected */
	struct aimed *aimed; /* aim/aim.h; NULL: nothing is aimed at */
};

struct request {
	struct tl_watch watch;
	uint64_t time;
};

struct explorer_events {
	/* What the tool thinks of an instruction: 0 to TL_INTEREST_MAX. */
	unsigned (*interest)(struct target *target, uint64_t pc);
	/* A watch is over. */
	void (*unwatched)(struct target *target, const struct slot *slot);
};

struct manner;

struct explorer {
	struct program *program;
	const struct explorer_events *events;
	/* Two: of a process whose armed slots are dear the second. */
	const struct manner *const *manner;
	const struct budget *budget;
	struct hits *hits;
	struct request request[REQUESTS_MAX];
	unsigned requests;
	uint64_t team_lent;	 /* ns of holds by team/team.h, of all processes */
	struct bucket foresight; /* CPU time for looking ahead … */
	uint64_t foresight_at;	 /* … as it was then; 0: not yet */
};

static inline struct explorer *explorer_of(const struct target *target)
{
	return target->program->explorer;
}

static inline bool is_off(const struct target *target, enum heuristic heuristic)
{
	return heuristic_is_off(target->program->options.without, heuristic);
}

/* Reads what the first looks will ask of the program's files while its first process still waits to
 * begin: the program may be over in milliseconds. Processes that it starts do not wait for that. */
static inline void explorer_prepare(const struct target *target)
{
	if (!target->program->welcomed)
		space_prepare(target->space);
}

/* In the first half second all that samples show is new, and look-ahead would take from them the
 * time that a short run has. Not in a program that mostly waits, which gets few samples. */
static inline bool samples_come_first(const struct target *target)
{
	return !explorer_of(target)->budget->sleepy &&
	       clock_now() - target->program->started < SAMPLES_FIRST;
}

static inline struct slot_choice *choice_of(const struct target *target, const struct slot *slot)
{
	return &target->explored->choice[slot->index];
}

#endif
