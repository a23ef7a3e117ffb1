/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands between the controller and the tools of a run: it hands the controller's events to
 * their callbacks, and each tool's host offers it the services of <trapline/tool.h>. All tools
 * share the slots, the samples and one budget. Findings are made whole here (stacks, symbols,
 * object), counted, and passed on once each. The controller's thread runs all of it, except the
 * service wake().
 */
#ifndef TOOL_SET_H
#define TOOL_SET_H

#include "control/control.h"
#include "record/finding.h"

#include <trapline/tool.h>

#define TOOL_SET_MAX 8
#define TOOL_OPTIONS_MAX 64

struct tool_set;

struct host_options {
	const struct control_options *control; /* `slots`: of all tools together */
	/* findings have addresses and modules only; symbols are added later, elsewhere */
	bool raw;
	const char *program; /* path, for findings */
	/* "NAME=VALUE" for all tools or "TOOL.NAME=VALUE" for one, NULL-terminated; may be NULL */
	const char *const *tool_options;
	bool loaded; /* some of the tools come from shared objects */
	void (*process_ended)(
		/* called while the process still waits to be let go; may be NULL */
		void *context);
	void (*tick)(void *context); /* called some 50 times a second; may be NULL */
	/* A tool cannot do what it was asked, and has said why (see tool_refuse()). May be NULL. */
	void (*refused)(void *context, pid_t pid);
};

/* Called for a new finding, and again when a known one becomes surer. Returns true if the
 * finding is suppressed. The set keeps the finding. */
typedef bool host_deliver_fn(void *context, struct finding *finding);

/* `tools`: 1 to TOOL_SET_MAX. 0 or -errno; -ECANCELED: a tool gave up, and said why; -EBADRQC:
 * an option is wrong, or belongs to no tool, and that was said. */
int tool_set_create(struct tool_set **set, const struct tl_tool *const *tools, unsigned count,
		    const struct host_options *options, host_deliver_fn *deliver, void *context);
const char *tool_set_run(const struct tool_set *set); /* the run's id, which its findings have */
struct control *tool_set_control(struct tool_set *set);
/* For tools that come with us: a watched process's memory, code and modules. NULL: it is not
 * watched. */
struct space *tool_space(struct tl_host *host, pid_t pid);
/* For the same tools, in process_began(): what the user asked for means nothing in this process. */
void tool_refuse(struct tl_host *host, pid_t pid);
/* For the same tools: are they told of the kernel's accesses? */
bool tool_kernel_told(struct tl_host *host);
/* Tells the tools that the program has ended. */
void tool_set_finish(struct tool_set *set);
/* A finding that was delivered, by number and with its final count; NULL past the end. */
struct finding *tool_set_finding(struct tool_set *set, size_t index);
/* The tools' and the controller's own counts. */
void tool_set_counts(const struct tool_set *set, control_count_fn *each, void *context);
void tool_set_destroy(struct tool_set *set);

/* A tool in a shared object; it stays loaded. NULL with one sentence on stderr. */
const struct tl_tool *tool_load(const char *path);

#endif
