/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_SAY_H
#define CONTROL_SAY_H

#include <sys/types.h>

/* One line on standard error, at once, in front of which stands who says it */
__attribute__((format(printf, 1, 2))) void control_say(const char *format, ...);
/* What a process calls itself, which may be anything; "?" when it has ended. */
#define CONTROL_NAME 32
void control_name(pid_t pid, char name[static CONTROL_NAME]);

#endif
