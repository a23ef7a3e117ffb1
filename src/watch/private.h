/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Not for other folders. */
#ifndef WATCH_PRIVATE_H
#define WATCH_PRIVATE_H

#include "symbol/target.h"
#include "watch/watch.h"

/* An expression as typed, and what it turned out to be in the process that resolved it last. */
struct wanted {
	const char *text;
	struct symbol_expression expression;
	unsigned access; /* SYMBOL_ACCESS_…; 0 until resolved once */
	bool is_signed, is_pointer;
	uint64_t shown;	 /* hits that passed the filters */
	uint64_t kernel; /* by the kernel's own counts, of ended processes */
};

/* One hardware slot of a process. */
struct piece {
	unsigned wanted;
	bool armed;
	uint64_t address;
	unsigned length;
	bool value_known;
	uint64_t value;
};

struct watched {
	pid_t pid;
	struct piece piece[AREA_SLOTS];
	bool resolved[WATCH_EXPRESSIONS];
	bool given_up[WATCH_EXPRESSIONS]; /* it cannot become watchable in this process */
	struct symbol_target target[WATCH_EXPRESSIONS];
	struct watched *next;
};

struct place {
	unsigned wanted;
	enum finding_operation operation;
	char *text; /* "function file:line" */
	uint64_t count;
};

struct watch {
	struct watch_options options;
	struct control *control;
	struct wanted wanted[WATCH_EXPRESSIONS];
	struct watched *processes;
	bool refused, began;
	uint64_t started; /* CLOCK_MONOTONIC ns */
	uint64_t matched, printed, dropped;
	struct place *place;
	size_t places, place_capacity;
};

/* target.c: from expressions to slots. Arms what can be; 0, or -EINVAL when the first process
 * shows that one means nothing, and said why. */
int watch_resolve(struct watch *watch, struct watched *process, bool first);
/* What has appeared or moved since. */
void watch_look_again(struct watch *watch, struct watched *process);

/* line.c */
void line_print(const struct watch *watch, const struct finding *finding,
		const struct wanted *wanted, uint64_t time);

/* place.c */
void place_count(struct watch *watch, unsigned wanted, const struct finding *finding);
void places_print(struct watch *watch);
void place_text(const struct finding_access *access, char *text, size_t size);

#endif
