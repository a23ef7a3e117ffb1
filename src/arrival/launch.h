/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a program comes to be watched, and is left: started by us with the preload library (here) or
 * entered before its first instruction, entered while it runs (enter.h), or come to by itself since
 * it started us (attach.h); and what remains when its first process has ended (linger.h).
 *
 * Promised: the program's environment, descriptors, signals and terminal are as they would be
 * without us; what cannot be watched runs unwatched, and it is said why; nothing of ours remains in
 * a process that was entered and is left. The controller's thread runs all of it.
 */
#ifndef ARRIVAL_LAUNCH_H
#define ARRIVAL_LAUNCH_H

#include "arrival/enter.h"
#include "limit/events.h"
#include "sample/windows.h"

struct launch {
	struct program *program;
	struct limits *limits;	 /* told of the program before it runs, … */
	struct windows *windows; /* … as are the clocks that sample it */
	bool child_ends_ignored; /* SIGCHLD was, when we were started: the program inherits that */
	char *const *argv;
	const char *library; /* NULL: none is loaded */
	enum enter_when entry;
};

/* Its pid, or -errno. */
pid_t launch_program(const struct launch *launch);

#endif
