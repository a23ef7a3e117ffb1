/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands between the controller and one tool: it hands the controller's events to the tool's
 * callbacks and offers the services of <trapline/tool.h>. Findings are made whole here (stacks,
 * symbols, object), counted, and passed on once each.
 */
#ifndef TOOL_HOST_H
#define TOOL_HOST_H

#include "control/control.h"
#include "record/finding.h"

#include <trapline/tool.h>

struct host_options {
	const struct control_options *control;
	bool raw;	     /* addresses and modules only: symbols come later, elsewhere */
	const char *program; /* path, for findings */
	const char *const *tool_options; /* "NAME=VALUE", NULL-terminated; or NULL */
	void (*process_ended)(
		void *context);	     /* while it still waits for us to let it go; or NULL */
	void (*tick)(void *context); /* some 50 times a second; or NULL */
};

/* Called for a new finding, and again when one becomes surer. True: it is suppressed. The finding
 * stays the host's. */
typedef bool host_deliver_fn(void *context, struct finding *finding);

int host_create(struct tl_host **host, const struct tl_tool *tool,
		const struct host_options *options, host_deliver_fn *deliver, void *context);
struct control *host_control(struct tl_host *host);
/* The program has ended: tells the tool. */
void host_finish(struct tl_host *host);
/* Findings delivered so far, with their counts; NULL past the end. */
struct finding *host_finding(struct tl_host *host, size_t index);
/* The tool's and the host's own counts. */
void host_counts(const struct tl_host *host, control_count_fn *each, void *context);
void host_destroy(struct tl_host *host);

/* A tool in a shared object; it stays loaded. NULL with one sentence on stderr. */
const struct tl_tool *tool_load(const char *path);

#endif
