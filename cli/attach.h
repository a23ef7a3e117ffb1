/* SPDX-License-Identifier: Apache-2.0 */
/* `-p PID` and `-p NAME`, in place of a program to start. */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include "cli/command.h"
#include "control/control.h"

#include <sys/types.h>

/* Parsers of options return 0, 1 if help was shown, 2 if the line is wrong, or this: */
#define ATTACH_NOBODY 3 /* no process has that name, or several have */

/* The exit status for such a result other than 0. */
static inline int attach_status(int parsed)
{
	return parsed == 1 ? STATUS_OK : parsed == ATTACH_NOBODY ? STATUS_FAILED : STATUS_USAGE;
}

/* Writes to *pid the process of that number, or the only one of that name. An option that comes
 * twice is refused, so *pid must be 0 before. 0; or 2 or ATTACH_NOBODY, having said why. */
int attach_find(const char *text, pid_t *pid);

/* The path of its program; valid until the next call. */
const char *attach_program(pid_t pid);

/* For commands that do not enter the process: can it be watched at all? STATUS_OK; else it was said
 * why not. */
int attach_check(pid_t pid);

/* Called before control_run(): enters the process, and from then on signals end the watching.
 * STATUS_OK; else it was said why not. */
int attach_begin(struct control *control, pid_t pid);

/* Called after control_finish(): leaves the process again. */
void attach_end(struct control *control);

#endif
