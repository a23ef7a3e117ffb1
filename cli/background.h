/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when the program's first process has ended and others of it go on, with the
 * watching. */
#ifndef CLI_BACKGROUND_H
#define CLI_BACKGROUND_H

#include "control/control.h"

struct background {
	const char *program;
	bool foreground; /* this process stays until the last one has ended */
	bool quiet;	 /* nothing is said of it */
	bool to_file; /* findings go to a file: standard error is then kept only if it is a file */
};

/*
 * Called after control_run(). If processes are left, this process ends with `status` at once, and a
 * copy of it goes on in a session of its own: there the call returns when the last process has
 * ended or `trapline stop` asks for the end. If none are left it returns at once. True: this is the
 * copy.
 */
bool background_go_on(struct control *control, const struct background *how, int status);

/* From now on SIGINT and SIGTERM end the watching, not the program. */
void background_stop_on_signals(struct control *control);
/* From now on this signal does, too. */
void background_stop_on(int signal);
/* From now on these signals do, and SIGHUP, SIGQUIT and SIGPIPE as well, unless they are ignored: a
 * program that we did not start must be left in order before we end. */
void background_stop_in_order(struct control *control);

#endif
