/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share while a program runs. A task is one question that is being
 * asked of it, with the watches that it takes; its watches' cookies name it, its turn and the
 * stage, so that a hit of a watch that has ended since is told from one of its successor.
 */
#ifndef STACK_CONTEXT_H
#define STACK_CONTEXT_H

#include "stack/foretell.h"
#include "stack/functions.h"
#include "tool/set.h"

#define PROCESSES 64
#define TASKS 16
#define TASK_FRAMES 32
#define REPORTED 256
#define SUSPECTS 8
#define AREAS 64
#define HOLDERS_TRIED 256
/* Of watches on what lies ahead of a thread (plan.h): each hit is looked at however busy the
 * machine is, and a process may take long to begin, or to get a CPU. */
#define HOLD_AHEAD (500 * MILLISECOND)
#define WINDOW_AHEAD (1000 * MILLISECOND)

enum stage {
	STAGE_SITE,    /* code: the address of a local is about to leave its frame */
	STAGE_RETURN,  /* code: where that frame returns to, in its thread */
	STAGE_HOLDER,  /* data: the memory that still has the address */
	STAGE_OBJECT,  /* data: what it points to */
	STAGE_USE,     /* code: the instruction that will use it, as was foretold */
	STAGE_SUSPECT, /* code: an instruction that a sample saw about to use a gone frame */
	/* The rest is guard.c's. */
	STAGE_READY, /* code: where a function's prologue has ended */
	STAGE_SLOT,  /* data: a slot of its frame that nobody is to write */
	STAGE_FAR,   /* data: another one, farther from what may be overrun */
	STAGES
};

struct suspect {
	uint64_t pc; /* 0: free */
	bool wanted, watched;
	unsigned looks;
};

/* Where a thread's stack pointer was seen by a sample. */
struct stack_area {
	uint64_t start, end; /* of the mapping */
	pid_t tid;
};

/* A word that had an address in a frame that is gone, and how often it was watched in vain. */
struct holder_tried {
	uint64_t address; /* 0: free */
	unsigned count;
};

struct process {
	pid_t pid;   /* 0: free */
	bool seen;   /* its entry point is known */
	bool guards; /* the last turn was guard.c's */
	/* Threads that sleep: whose turn it is, from when on, and how many had one. */
	unsigned asleep_turn, asleep_looks;
	uint64_t asleep_next; /* CLOCK_MONOTONIC, ns */
	unsigned turns;	      /* choices made: which kinds of code come first */
	bool wanted;	      /* it has the function that the user named */
	/* It copies frames away and back: what lies below a stack pointer may come again. */
	bool copies;
	bool ahead; /* what its threads come to next is watched (plan.h) */
	struct stack_area area[AREAS];
	struct suspect suspect[SUSPECTS];
	struct holder_tried tried[HOLDERS_TRIED];
	struct functions *functions;
	uint64_t main_start; /* of the first thread's stack */
	uint64_t entry;	     /* the program's entry point, where a plan begins (plan.h) */
	unsigned plans;	     /* made */
	unsigned threads;    /* that there were when its stacks were looked at last */
};

/* A word of a live frame that its function's entry alone writes. */
struct frame_slot {
	uint64_t address;
	uint64_t value;
	const char *what; /* it is */
};

struct task {
	struct process *process; /* NULL: free */
	uint64_t turn;
	unsigned armed; /* stages, a bit each */
	pid_t tid;	/* the frame's thread */
	/* Use after return. */
	struct site *site;
	uint64_t address;     /* of the local */
	uint64_t holder;      /* where its address was stored; 0: not in memory */
	uint64_t low;	      /* lowest address of the frame that is known */
	uint64_t end;	      /* of the frame: its canonical address */
	uint64_t frame_pc;    /* in its function, when the address left it; 0: not known */
	uint64_t frame_stack; /* the stack pointer in it, then */
	uint64_t frame_base;  /* the frame pointer in it, then, if it has one */
	bool frame_is_caller;
	uint64_t returns_to;
	uint64_t returned; /* CLOCK_MONOTONIC, ns; 0: not seen yet */
	/* The frame is on the stack that the C library made for its thread, which begins at
	 * `stack_start`. */
	bool thread_stack;
	uint64_t stack_start;
	unsigned others; /* stores to `holder` since the site's last one */
	bool kept;	 /* `holder` has had the address since */
	bool result;	 /* the address is the result of the frame's function */
	pid_t reader;	 /* the thread that loaded it from there, the last one */
	bool foretold;	 /* what it will do with it is: `use` */
	unsigned loads;	 /* from there since the last one that was foretold what becomes of */
	struct foretold use;
	uint64_t made[TASK_FRAMES], ended[TASK_FRAMES]; /* stacks, by pcs */
	unsigned made_count, ended_count;
	uint64_t made_time;
	uint64_t made_address, made_pointer; /* the local's, and the stack pointer's then */
	/* Suspect. */
	struct suspect *suspect;
	/* Overwritten slots. */
	struct victim *victim;
	struct frame_slot slot[2]; /* of STAGE_SLOT and STAGE_FAR */
	uint64_t entry;		   /* the stack pointer at the victim's entry */
	uint64_t guarded_at;	   /* CLOCK_MONOTONIC, ns: when its slots were armed */
};

struct stack {
	struct tl_host *host;
	const struct tl_services *services;
	struct process process[PROCESSES];
	struct task task[TASKS];
	uint64_t turns;
	uint64_t reported[REPORTED]; /* pcs of accesses told already */
	uint64_t random;
	const char *function; /* the user's choice; or NULL */
	bool all;	      /* every frame is looked at, as far as slots go (plan.h) */
};

struct process *stack_process(struct stack *stack, pid_t pid);
struct space *stack_space(struct stack *stack, pid_t pid);
/* May one more watch be placed in the process? */
bool stack_has_slot(struct stack *stack, const struct process *process);

struct task *task_begin(struct stack *stack, struct process *process);
/* Disarms what is armed. */
void task_end(struct stack *stack, struct task *task);
/* `watch` says address, length, access, tid, hits, hold and window. 0 or -errno. */
int task_arm(struct stack *stack, struct task *task, enum stage stage, struct tl_watch *watch);
void task_disarm(struct stack *stack, struct task *task, enum stage stage);
/* The task that a cookie names, if it is still at it. */
struct task *task_find(struct stack *stack, uint64_t cookie, enum stage *stage);

bool stack_was_reported(const struct stack *stack, uint64_t pc);
void stack_note_reported(struct stack *stack, uint64_t pc);

#endif
