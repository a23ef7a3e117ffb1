/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Not for other folders. */
#ifndef WATCH_PRIVATE_H
#define WATCH_PRIVATE_H

#include "control/control.h"
#include "lasting/lasting.h"
#include "lasting/regions.h"
#include "lasting/threads.h"
#include "notice/notice.h"
#include "symbol/target.h"
#include "watch/watch.h"

#define WATCH_LOOK_NS 1000000000u /* between looks where scouts are out */

/* An expression as typed, and what it turned out to be in the process that resolved it last. */
struct wanted {
	const char *text;
	struct symbol_expression expression;
	unsigned access; /* SYMBOL_ACCESS_…; 0 until resolved once */
	bool is_signed, is_pointer;
	uint64_t blocks;		  /* of the heap that were watched */
	bool full;			  /* some were not, since no hardware was left */
	uint64_t uncovered;		  /* threads whose copy could not be watched */
	uint64_t shown;			  /* hits that passed the filters */
	uint64_t kernel;		  /* by the kernel's own counts, of ended processes */
	struct lasting_estimate estimate; /* hits beyond those, to keep to --budget */
};

/* One hardware slot of a process. */
struct piece {
	unsigned wanted;
	bool armed;
	bool scout;	  /* of no expression: something is to be looked at again when it trips */
	bool region;	  /* no hardware's */
	bool each_thread; /* a thread-local variable's: `address` is the offset in it */
	uint64_t start;	  /* of the whole that this is a piece of; 0: not known */
	uint64_t block;	  /* of the heap that it lies in; 0: none */
	uint64_t address;
	unsigned length;
	uint8_t *shadow;  /* of a region: its bytes, as far as hits told; may be NULL */
	bool value_known; /* of a thread's copy, before the first hit there */
	uint64_t value;
};

/* A place taught to the handlers of a process. */
struct taught {
	bool known; /* a program that writes keys of its own has places that nobody taught it */
	int slot;
	int place; /* index in struct watch's; -1: its hits are not wanted */
};

/* A thread's own copy of what a slot watches. */
struct copy {
	unsigned slot;
	pid_t tid;
	struct piece piece;
	struct copy *next;
};

struct thread {
	pid_t tid;
	uint64_t pointer;
	bool waits; /* some variable's copy is not there yet */
	struct thread *next;
};

struct watched {
	pid_t pid;
	bool begun;		/* it runs, and may be loading modules */
	bool may_open;		/* the program waits, and opens regions before it goes on */
	bool silent;		/* a debugger has the hardware */
	struct thread *threads; /* that are known, with their thread pointers */
	unsigned thread_count, thread_sweep; /* ended ones are looked for from so many on */
	struct copy *copies;
	uint64_t linker_call, linker_record; /* 0: not known */
	bool scouted;			     /* scouts watch for everything that may change */
	uint64_t next_look;		     /* when nobody else has seen a change */
	bool told_lost;			     /* of its regions */
	struct piece piece[AREA_WATCHES];
	bool resolved[WATCH_EXPRESSIONS];
	bool may_unload[WATCH_EXPRESSIONS]; /* it came with a module loaded later */
	bool given_up[WATCH_EXPRESSIONS];   /* it cannot become watchable in this process */
	struct symbol_target target[WATCH_EXPRESSIONS];
	struct taught taught[FILTER_PLACES]; /* by their index in struct filter_process */
	struct watched *next;
};

struct place {
	unsigned wanted;
	enum finding_operation operation;
	char *text; /* "function file:line" */
	uint64_t count;
	/* Of the last hit that was sent. */
	uint64_t last_time, last_value;
	bool last_known;
	char last_thread[AREA_NAME];
};

struct watch {
	struct watch_options options;
	struct control *control;
	struct program *program; /* the controller's */
	struct wanted wanted[WATCH_EXPRESSIONS];
	struct watched *processes;
	bool refused, began;
	bool changed;		  /* it became another program while names were looked up in it */
	struct piece part;	  /* of a region, that a hit touched */
	pid_t debugger, debugged; /* gdb while it runs, and the process it was started for */
	uint64_t started;	  /* CLOCK_MONOTONIC ns */
	uint64_t dropped, unsent;
	uint64_t refused_hits[FILTER_REFUSALS];
	struct place *place;
	size_t places, place_capacity;
	uint64_t unplaced; /* hits at places beyond PLACES_MOST, or without memory for one */
};

/* target.c: from expressions to slots. Arms what can be; 0, or -EINVAL when the first process
 * shows that one means nothing, and said why. */
int watch_resolve(struct watch *watch, struct watched *process, bool first);
/* Looks for expressions that name something only now, or something that has moved since. */
void watch_look_again(struct watch *watch, struct watched *process);
void watch_scout_tripped(struct watch *watch, struct watched *process);

/* piece.c */
unsigned slot_access(unsigned access);
/* How long a thread is kept at its access, ns. */
uint64_t watch_hold(const struct watch *watch);
/* The largest naturally aligned piece at `address` within `length` bytes. */
unsigned piece_length(uint64_t address, uint64_t length);
int piece_free(const struct watched *process); /* or -ENOSPC */
unsigned pieces_free(const struct watched *process);
unsigned pieces_needed(const struct symbol_target *target); /* at the best alignment */
void piece_forget(struct piece *piece);			    /* the bytes of a region */
/* Takes the slot for the piece that is noted in it. */
int watch_arm_piece(struct watch *watch, struct watched *process, unsigned index);
/* Takes a slot that is free, or -ENOSPC. */
int watch_arm_wish(struct watch *watch, struct watched *process, const struct piece *wish);
void watch_disarm_piece(struct watch *watch, struct watched *process, unsigned index);
/* All pieces of an expression, of a block, of what begins at `start`. */
void watch_disarm_wanted(struct watch *watch, struct watched *process, unsigned wanted);
void watch_disarm_block(struct watch *watch, struct watched *process, uint64_t block);
void watch_disarm_whole(struct watch *watch, struct watched *process, unsigned wanted,
			uint64_t start);

/* data.c: watch the target's length from `start` on; all or, with -errno, nothing. */
int watch_arm_data(struct watch *watch, struct watched *process, unsigned wanted, uint64_t start,
		   uint64_t block);

/* watched.c */
struct watched *watch_find(const struct watch *watch, pid_t pid);
/* Give all hardware back for a while: what is watched meanwhile is noted and armed again by
 * watch_resume(). */
void watch_silence(struct watch *watch, struct watched *process);
void watch_resume(struct watch *watch, struct watched *process);

/* debugger.c */
void debugger_start(struct watch *watch, struct watched *process, const struct trace *trace);
/* Has it ended? `wait`: until it has. */
void debugger_check(struct watch *watch, bool wait);

/* linker.c: where it tells of changed modules, 0 if not known; has it loaded a module that is
 * mapped, and no change under way? True where it cannot be asked. */
uint64_t linker_call(struct watched *process, struct symbol_modules *modules);
bool linker_has(struct watched *process, struct symbol_modules *modules,
		const struct symbol_module *module);

/* scouts.c: placed after each look; they give way when others need slots. */
void scouts_place(struct watch *watch, struct watched *process);
void scouts_give_way(struct watch *watch, struct watched *process, unsigned needed);

/* region.c */
bool region_possible(const struct watch *watch, const struct watched *process);
/* Does something there share a page with a region? */
bool region_beside(const struct watched *process, uint64_t address, uint64_t length);
int region_arm(struct watch *watch, struct watched *process, const struct piece *wish);
struct piece *region_piece(struct watch *watch, struct watched *process, const struct trace *trace);
void region_keep(struct watch *watch, struct watched *process, const struct trace *trace);
void region_report(struct watch *watch, struct watched *process);
void region_close_all(struct watched *process);

/* heap.c */
int heap_begin(struct watch *watch, struct watched *process, unsigned index);
void heap_notice(struct watch *watch, struct watched *process, const struct notice *notice);
void heap_print(const struct watch *watch, const struct wanted *wanted);

/* copies.c */
void copies_open(struct watch *watch, struct watched *process);
int copies_begin(struct watch *watch, struct watched *process, unsigned index);
void copies_notice(struct watch *watch, struct watched *process, const struct notice *notice);
void copies_look_again(struct watch *watch, struct watched *process);
/* The piece that a hit of an each_thread slot belongs to; NULL: it cannot be told. */
struct piece *copies_piece(struct watched *process, const struct trace *trace);
void copies_resume(struct watch *watch, struct watched *process, unsigned slot);
void copies_close(struct watched *process);

/* filter.c */
void filter_begin(struct watch *watch);
void filter_process_begin(struct watch *watch, struct watched *process);
/* Before the piece's slot is armed. */
void filter_slot_begin(struct watch *watch, const struct watched *process, unsigned slot);
/* FILTER_REFUSALS: it passes. Counts it else. */
enum filter_refusal filter_judge(struct watch *watch, const struct finding *finding,
				 const struct wanted *wanted, const struct trace *trace);
uint64_t filter_number(struct watch *watch, const struct trace *trace);
void filter_teach(struct watch *watch, struct watched *process, const struct finding *finding,
		  const struct trace *trace, enum filter_refusal refused, int place);
/* Adds what handlers counted; slot >= 0: of that slot alone, which is about to watch something
 * else. */
void filter_collect(struct watch *watch, struct watched *process, int slot);
/* Before it is disarmed: what was not seen there. */
void filter_estimate(struct watch *watch, const struct watched *process, unsigned slot);
/* Adds what handlers counted, and asks for one hit of each place. */
void filter_refresh(struct watch *watch, struct watched *process);
void filter_process_end(struct watch *watch, struct watched *process);
void filter_print(const struct watch *watch);

/* line.c */
void value_text(const struct wanted *wanted, bool known, uint64_t value, char *text, size_t size);
void line_print(const struct watch *watch, const struct finding *finding,
		const struct wanted *wanted, uint64_t time);

/* place.c */
/* Its index, or -1 when memory is short. */
int place_count(struct watch *watch, unsigned wanted, const struct finding *finding);
void places_print(struct watch *watch);
/* The number of accesses that `count` hits at one place stand for, where slots rested at times to
 * keep to the budget. */
uint64_t place_estimate(const struct wanted *wanted, uint64_t count);
void place_text(const struct finding_access *access, char *text, size_t size);

#endif
