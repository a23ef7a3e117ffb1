/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands between the controller and the tools of a run: it hands the controller's events to
 * their callbacks, and each tool's host offers it the services of <trapline/tool.h>. All share the
 * slots, the samples and one budget. Findings are made whole here (stacks, symbols, object),
 * counted, and passed on once each. One thread, but for the service wake().
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
	bool raw;	     /* addresses and modules only: symbols come later, elsewhere */
	const char *program; /* path, for findings */
	const char *const *tool_options; /* "NAME=VALUE" for all tools or "TOOL.NAME=VALUE" for
					    one, NULL-terminated; or NULL */
	bool loaded;			 /* some of the tools come from shared objects */
	void (*process_ended)(
		void *context);	     /* while it still waits for us to let it go; or NULL */
	void (*tick)(void *context); /* some 50 times a second; or NULL */
	/* A tool cannot do what it was asked, and has said why; or NULL. See tool_refuse(). */
	void (*refused)(void *context, pid_t pid);
};

/* Called for a new finding, and again when one becomes surer. True: it is suppressed. The finding
 * stays the set's. */
typedef bool host_deliver_fn(void *context, struct finding *finding);

/* 1 to TOOL_SET_MAX tools. 0 or -errno; -ECANCELED: a tool gave up, and said why; -EBADRQC: an
 * option of a tool is wrong, or no tool's, which was said. */
int tool_set_create(struct tool_set **set, const struct tl_tool *const *tools, unsigned count,
		    const struct host_options *options, host_deliver_fn *deliver, void *context);
const char *tool_set_run(const struct tool_set *set); /* the id of this run, as findings have it */
struct control *tool_set_control(struct tool_set *set);
/* For tools that come with us: a watched process's memory, code and modules. NULL: it is not
 * watched. */
struct space *tool_space(struct tl_host *host, pid_t pid);
/* For the same, in process_began(): what was asked means nothing in this process. */
void tool_refuse(struct tl_host *host, pid_t pid);
/* For the same: is it told what the kernel touches? */
bool tool_kernel_told(struct tl_host *host);
/* The program has ended: tells the tools. */
void tool_set_finish(struct tool_set *set);
/* Findings delivered so far, with their counts; NULL past the end. */
struct finding *tool_set_finding(struct tool_set *set, size_t index);
/* The tools' and the controller's own counts. */
void tool_set_counts(const struct tool_set *set, control_count_fn *each, void *context);
void tool_set_destroy(struct tool_set *set);

/* A tool in a shared object; it stays loaded. NULL with one sentence on stderr. */
const struct tl_tool *tool_load(const char *path);

#endif
