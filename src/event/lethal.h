/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp filter that we were started under may end whoever makes a call that it does not like,
 * rather than refuse it. A filter cannot be read, so what is out of the ordinary is tried in a
 * child: where there is a filter each function forks, the first time. For one thread, and not for
 * signal handlers.
 */
#ifndef EVENT_LETHAL_H
#define EVENT_LETHAL_H

#include <stdbool.h>

/* A system call by its name that `trapline` needs and that would end it here; NULL: none. */
const char *lethal_call(void);
/* Would asking the scheduler to be run sooner, by sched_setattr(2) or setpriority(2), end the
 * caller? Services often have that forbidden (systemd's @resources), and nobody needs it. */
bool lethal_promptness(void);
/* Would userfaultfd(2) end the program? */
bool lethal_userfault(void);
/* pidfd_getfd(2): a descriptor or -errno; -EPERM where it would end the caller. */
int lethal_getfd(int pidfd, int number);

#endif
