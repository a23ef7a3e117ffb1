/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Not for other folders. */
#ifndef TOOL_PRIVATE_H
#define TOOL_PRIVATE_H

#include "tool/counts.h"
#include "tool/set.h"

#define TOOL_JUDGEMENTS 509 /* remembered answers about instructions, by pc */

struct tool_judgement {
	uint64_t pc;
	uint64_t object; /* address of what was accessed, of variables in a module; else 0 */
	pid_t pid;
	enum tl_atomicity atomicity;
	char reason[256];
};

/* One tool of a set, and what it was told of itself. */
struct tl_host {
	struct tool_set *set;
	const struct tl_tool *tool;
	unsigned number; /* from 1 on: the owner of its watches */
	bool logged;	 /* it said something in a sentence of its own */
	void *state;
	struct tool_counts counts;
};

struct tool_set {
	struct control *control;
	struct program *program; /* the controller's */
	struct host_options options;
	struct tl_host host[TOOL_SET_MAX];
	unsigned count;
	char run[48];
	char hostname[256];
	host_deliver_fn *deliver;
	void *context;
	struct finding **findings;
	size_t finding_count, finding_capacity;
	struct tool_judgement judgement[TOOL_JUDGEMENTS];
};

extern const struct tl_services host_services;

/* A tool built before the member was added says so by its size. */
#define TOOL_HAS(tool, member)                                                        \
	((tool)->size >= offsetof(struct tl_tool, member) + sizeof((tool)->member) && \
	 (tool)->member)

/* How many watches the tool places at a time; 0: it asks by watch(). */
static inline unsigned tool_places(const struct tl_tool *tool)
{
	return TOOL_HAS(tool, slots) ? tool->slots : 0;
}

/* finding.c: fills in stacks, names and the object of a report's finding. */
struct finding *finding_complete(struct tl_host *host, const struct tl_report *report);

/* complete.c */
int host_symbolise(struct tl_host *host, pid_t pid, uint64_t pc, struct tl_frame *frames,
		   size_t max);
int host_stack(struct tl_host *host, const struct tl_access *access, struct tl_frame *frames,
	       size_t max);

/* judgement.c */
enum tl_atomicity host_atomicity(struct tl_host *host, const struct tl_access *access,
				 const char **reason);
bool host_keeps_atomics_apart(struct tl_host *host, pid_t pid, uint64_t pc);

/* object.c: what the tool itself says of its report's object */
void object_complete(struct tl_host *host, struct finding *finding, const struct tl_report *report);

/* unwind.c */
int host_unwind(struct tl_host *host, const struct tl_access *access, struct tl_frame_place *frames,
		size_t max);

/* look.c */
int host_memory(struct tl_host *host, pid_t pid, uint64_t address, struct tl_memory *memory);
int host_function(struct tl_host *host, pid_t pid, uint64_t pc, uint64_t *start, uint64_t *end);
int host_resolve(struct tl_host *host, pid_t pid, const char *text, uint64_t fs_base,
		 struct tl_expression *meaning, char *error, size_t size);
uint64_t host_entry(struct tl_host *host, pid_t pid, const char *text);
uint64_t host_thread_pointer(struct tl_host *host, pid_t pid, pid_t tid);

/* guarded.c */
void guarded_tell(struct tool_set *set, const struct guards_notice *notice);
void host_guard(struct tl_host *host, const struct tl_guarding *guarding);
bool host_guarded(struct tl_host *host, pid_t pid, uint64_t address, struct tl_guarded *block);
int host_guard_faults(struct tl_host *host, pid_t pid, struct tl_guard_faults *faults);
int host_guard_always(struct tl_host *host, pid_t pid, uint64_t caller, uint64_t above);

/* around.c */
unsigned host_around(struct tl_host *host, const struct tl_access *access);

#endif
