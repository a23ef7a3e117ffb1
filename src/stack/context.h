/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tool's state, which its files share. A task is one question about a frame, with the watches
 * that it takes one after another (its stages). The cookie of each watch holds the task's place,
 * its turn and the stage, so that a hit that arrives after its watch has ended is not taken for one
 * of the next question in that place. The controller's thread alone uses it.
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
/* For watches on what lies ahead of a thread (plan.h). The hold is long so that each hit is looked
 * at however busy the machine is, the window since a process may take long to get a CPU. */
#define HOLD_AHEAD (500 * MILLISECOND)
#define WINDOW_AHEAD (1000 * MILLISECOND)

enum stage {
	STAGE_SITE,    /* code: the address of a local is about to leave its frame */
	STAGE_RETURN,  /* code: where that frame returns to; in its thread alone */
	STAGE_HOLDER,  /* data: the word that still holds the address */
	STAGE_OBJECT,  /* data: the local that it points to */
	STAGE_USE,     /* code: the instruction that was foretold to use it */
	STAGE_SUSPECT, /* code: an instruction that a sample saw using a frame that is gone */
	/* The stages of overwritten slots (guard.h): */
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

/* A word that held an address in a frame that is gone, and how often it was watched in vain. */
struct holder_tried {
	uint64_t address; /* 0: free */
	unsigned count;
};

struct process {
	pid_t pid;   /* 0: free */
	bool seen;   /* its entry point is known */
	bool guards; /* the last turn was guard.c's */
	/* asleep.h: whose turn it is, when the next look is due, and how many there were. */
	unsigned asleep_turn, asleep_looks;
	uint64_t asleep_next; /* CLOCK_MONOTONIC, ns */
	unsigned turns; /* questions begun: by turns those come first that threads were seen near to
			 */
	bool wanted;	/* it has the function that the user named */
	/* It copies frames away and back (copied.h): a frame below a stack pointer may come again.
	 */
	bool copies;
	bool ahead; /* what its threads come to next is watched (plan.h) */
	struct stack_area area[AREAS];
	struct suspect suspect[SUSPECTS];
	struct holder_tried tried[HOLDERS_TRIED];
	struct functions *functions;
	uint64_t main_start; /* where the kernel has set up the first thread's stack to begin */
	uint64_t entry;	     /* the program's entry point */
	unsigned plans;	     /* made */
	unsigned threads; /* how many there were when it was last looked whose stacks there are */
};

/* A word of a live frame that only its function's prologue writes. */
struct frame_slot {
	uint64_t address;
	uint64_t value;
	const char *what; /* that is: "return address", … */
};

struct task {
	struct process *process; /* NULL: free */
	uint64_t turn;
	unsigned armed; /* stages whose watches are armed, a bit each */
	pid_t tid;	/* the frame's thread */
	/* Use after return. */
	struct site *site;
	uint64_t address; /* of the local */
	uint64_t holder;  /* where its address was stored; 0: not in memory */
	uint64_t low;	  /* the lowest address that is known to be the frame's */
	uint64_t end;	  /* of the frame: its canonical frame address, behind the return address */
	uint64_t frame_pc;    /* the pc in its function when the address left it; 0: not known */
	uint64_t frame_stack; /* its stack pointer then */
	uint64_t frame_base;  /* its frame pointer then, if it has one */
	bool frame_is_caller;
	uint64_t returns_to;
	uint64_t returned; /* CLOCK_MONOTONIC, ns; 0: not seen yet */
	/* The frame is on the stack that the C library made for its thread, which begins at
	 * `stack_start`. */
	bool thread_stack;
	uint64_t stack_start;
	unsigned others; /* stores to `holder` by others since the site's last one */
	bool kept;	 /* `holder` has held the address ever since the return */
	bool result;	 /* the address is the result of the frame's function */
	pid_t reader;	 /* the last thread that loaded it from there */
	bool foretold;	 /* `use` says what that thread will do with it */
	unsigned loads;	 /* how many loads from there came since the last one with a foretold use */
	struct foretold use;
	uint64_t made[TASK_FRAMES], ended[TASK_FRAMES]; /* the stacks as the address left the frame
							   and as that returned, by pcs */
	unsigned made_count, ended_count;
	uint64_t made_time;
	uint64_t made_address,
		made_pointer; /* the local's address and the stack pointer when `made` was noted */
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
	bool all; /* --all: every frame is looked at, as far as there are slots (plan.h) */
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
/* The task that a cookie names, if its watch is still armed; else NULL. */
struct task *task_find(struct stack *stack, uint64_t cookie, enum stage *stage);

bool stack_was_reported(const struct stack *stack, uint64_t pc);
void stack_note_reported(struct stack *stack, uint64_t pc);

#endif
