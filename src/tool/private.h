/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Not for other folders. */
#ifndef TOOL_PRIVATE_H
#define TOOL_PRIVATE_H

#include "tool/host.h"

#define TOOL_COUNTS 64
#define TOOL_JUDGEMENTS 509 /* remembered answers about instructions, by pc */

struct tool_count {
	const char *name;
	uint64_t value;
};

struct tool_judgement {
	uint64_t pc;
	pid_t pid;
	enum tl_atomicity atomicity;
	char reason[256];
};

struct tl_host {
	struct control *control;
	const struct tl_tool *tool;
	void *state;
	struct host_options options;
	char run[48];
	char host[256];
	host_deliver_fn *deliver;
	void *context;
	struct finding **findings;
	size_t finding_count, finding_capacity;
	struct tool_count counts[TOOL_COUNTS];
	unsigned count_count;
	struct tool_judgement judgement[TOOL_JUDGEMENTS];
};

/* complete.c: fills in stacks, names and the object of a report's finding. */
struct finding *finding_complete(struct tl_host *host, const struct tl_report *report);
int host_symbolise(struct tl_host *host, pid_t pid, uint64_t pc, struct tl_frame *frames,
		   size_t max);
int host_stack(struct tl_host *host, const struct tl_access *access, struct tl_frame *frames,
	       size_t max);
enum tl_atomicity host_atomicity(struct tl_host *host, const struct tl_access *access,
				 const char **reason);

/* around.c */
unsigned host_around(struct tl_host *host, const struct tl_access *access);

bool host_keeps_atomics_apart(struct tl_host *host, pid_t pid, uint64_t pc);

#endif
