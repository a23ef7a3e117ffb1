/* SPDX-License-Identifier: Apache-2.0 */
/* `-p PID` and `-p NAME`, in place of a program to start. */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include "cli/command.h"
#include "control/control.h"

#include <sys/types.h>

/* What parsers of options return: 0, 1 where help was shown, 2 where the line is wrong, and … */
#define ATTACH_NOBODY 3 /* no process has that name, or several have */

/* The exit status for what is not 0 of these. */
static inline int attach_status(int parsed)
{
	return parsed == 1 ? STATUS_OK : parsed == ATTACH_NOBODY ? STATUS_FAILED : STATUS_USAGE;
}

/* The process of that number, or the only one of that name, to *pid, which is 0 before: an option
 * that came twice is refused. 0; 2 or ATTACH_NOBODY, and it is said why not. */
int attach_find(const char *text, pid_t *pid);

/* The path of its program; valid until the next call. */
const char *attach_program(pid_t pid);

/* For who does not enter it: is it a process that can be watched at all? STATUS_OK; else it is said
 * why not. */
int attach_check(pid_t pid);

/* Before control_run(): signals end the watching, and the process is entered. STATUS_OK; else it is
 * said why not. */
int attach_begin(struct control *control, pid_t pid);

/* After control_finish(): out of it again. */
void attach_end(struct control *control);

#endif
