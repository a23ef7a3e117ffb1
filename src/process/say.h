/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_SAY_H
#define PROCESS_SAY_H

#include <sys/types.h>

/* One line on standard error, at once, in front of which stands who says it */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
/* What a process calls itself, which may be anything; "?" when it has ended. */
#define PROCESS_NAME 32
void process_name(pid_t pid, char name[static PROCESS_NAME]);

#endif
