/* SPDX-License-Identifier: Apache-2.0 */
/* What all tools of a run share, and what each has of its own; for the files of this folder. */
#ifndef TOOL_HOST_H
#define TOOL_HOST_H

#include "tool/counts.h"
#include "tool/set.h"

#include <stddef.h>

#define TOOL_JUDGEMENTS 509 /* remembered answers about instructions, by pc */

struct tool_judgement {
	uint64_t pc;
	uint64_t object; /* address of the accessed variable of a module; 0 for other memory */
	pid_t pid;
	enum tl_atomicity atomicity;
	char reason[256];
};

/* One tool of a set, and what the set knows of it. */
struct tl_host {
	struct tool_set *set;
	const struct tl_tool *tool;
	unsigned number; /* from 1 on: the owner of its watches */
	bool logged;	 /* the tool has printed a sentence of its own */
	void *state;
	struct tool_counts counts;
};

struct tool_set {
	struct control *control;
	struct program *program; /* the controller's */
	struct host_options options;
	struct tl_host host[TOOL_SET_MAX];
	unsigned count;
	/* number of options in options.tool_options, TOOL_OPTIONS_MAX at most */
	unsigned tool_options;
	uint64_t asked; /* a bit for each of these options that a tool has asked for */
	char run[48];
	char hostname[256];
	host_deliver_fn *deliver;
	void *context;
	struct finding **findings;
	size_t finding_count, finding_capacity;
	struct tool_judgement judgement[TOOL_JUDGEMENTS];
};

extern const struct tl_services host_services;

/* A tool that was built before the member existed says so by its size. */
#define TOOL_HAS(tool, member)                                                        \
	((tool)->size >= offsetof(struct tl_tool, member) + sizeof((tool)->member) && \
	 (tool)->member)

/* How many watches the tool places at a time; 0: it does not place any, but asks by watch(). */
static inline unsigned tool_places(const struct tl_tool *tool)
{
	return TOOL_HAS(tool, slots) ? tool->slots : 0;
}

#endif
