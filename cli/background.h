/* SPDX-License-Identifier: Apache-2.0 */
/* The program's first process has ended; others of it go on, and so does the watching. */
#ifndef CLI_BACKGROUND_H
#define CLI_BACKGROUND_H

#include "control/control.h"

struct background {
	const char *program;
	bool foreground; /* go on here until the last has ended */
	bool quiet;	 /* say nothing of it */
	bool to_file; /* what is found goes to a file: standard error is kept only if it is one */
};

/*
 * After control_run(). Where processes are left, this one ends with `status` at once, and a copy of
 * it goes on in a session of its own: the call returns there, when the last of them has ended or
 * `trapline stop` asks for the end. Where none are left it returns at once. True: in the copy.
 */
bool background_go_on(struct control *control, const struct background *how, int status);

/* SIGINT and SIGTERM end the watching, not the program. */
void background_stop_on_signals(struct control *control);
/* This signal, too. */
void background_stop_on(int signal);
/* As those, and SIGHUP, SIGQUIT and SIGPIPE, unless they are ignored: a program that was not
 * started by us is to be left first. */
void background_stop_in_order(struct control *control);

#endif
