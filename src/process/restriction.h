/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which programs may make no system call in a handler. A filter may kill for any call that the
 * program itself never makes, and cannot be read. But where it is older than the program, a
 * container's or a service's, we are under it too, and can try.
 */
#ifndef PROCESS_RESTRICTION_H
#define PROCESS_RESTRICTION_H

#include <stdbool.h>

/* Of a process, from /proc/PID/status. */
struct restriction {
	int mode;    /* SECCOMP_MODE_… */
	int filters; /* on top of each other, since Linux 5.9; 0: not known */
};

/*
 * `inherited`: of filters that are known to allow what handlers call, as restriction_inherited()
 * found. The process must descend from ours, or ours from it: then it has the same, if no more.
 */
bool restriction_is_on(const struct restriction *restriction, int inherited);

/* Forks. 0 where there are none, or one that does not allow all calls. */
int restriction_inherited(void);

/* May the program make the calls of src/contact/ask.c? Forks where there is a filter. */
bool restriction_lets_ask(void);

#endif
