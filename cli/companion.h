/* SPDX-License-Identifier: Apache-2.0 */
/* The command as the companion of a program that was not started by it (src/life/companion.c). */
#ifndef CLI_COMPANION_H
#define CLI_COMPANION_H

#include "cli/detect_options.h"
#include "control/control.h"

/* Called before files are opened: replaces %p in their names by the program's process id. *program
 * becomes the program's path, allocated. Returns an exit status; other than 0 it has said why. */
int companion_begin(struct detect_options *options, char **program);

/* Called when all that can fail has been done. Signals that ask us to end now end the watching, in
 * good order; others, which are meant for the program, do nothing; and standard error is closed if
 * nothing will be written to it. */
void companion_settle(const struct detect_options *options, struct control *control);

#endif
