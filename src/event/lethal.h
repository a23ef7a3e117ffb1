/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp filter that we were started under may end whoever makes a call that it does not like,
 * rather than refuse it. A filter cannot be read, so what is out of the ordinary is tried in a
 * child. Not for signal handlers.
 */
#ifndef EVENT_LETHAL_H
#define EVENT_LETHAL_H

/* A system call by its name that `trapline` needs and that would end it here; NULL: none. Forks
 * where there is a filter. Found out once. */
const char *lethal_call(void);

#endif
