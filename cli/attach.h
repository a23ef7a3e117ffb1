/* SPDX-License-Identifier: Apache-2.0 */
/* `-p PID` and `-p NAME`, in place of a program to start. */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include "control/control.h"

#include <sys/types.h>

/* The process of that number, or the only one of that name. STATUS_OK; else it is said why
 * not: STATUS_USAGE for what is no process at all, STATUS_FAILED where there is none, or several.
 */
int attach_find(const char *text, pid_t *pid);

/* The path of its program; valid until the next call. */
const char *attach_program(pid_t pid);

/* Before control_run(): signals end the watching, and the process is entered. STATUS_OK; else it is
 * said why not. */
int attach_begin(struct control *control, pid_t pid);

/* After control_finish(): out of it again. */
void attach_end(struct control *control);

#endif
