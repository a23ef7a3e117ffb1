/* SPDX-License-Identifier: Apache-2.0 */
/* The command as the companion of a program that was not started by it (src/life/companion.c). */
#ifndef CLI_COMPANION_H
#define CLI_COMPANION_H

#include "cli/detect_options.h"
#include "control/control.h"

/* Before files are opened: %p in their names becomes the program's process id. *program is its
 * path, allocated. An exit status; when it fails it has said why. */
int companion_begin(struct detect_options *options, char **program);

/* When all that can fail has been done: signals that ask for our end end the watching, in good
 * order, others meant for the program do nothing, and standard error is let go of where nothing
 * will be written to it. */
void companion_settle(const struct detect_options *options, struct control *control);

#endif
