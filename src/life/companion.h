/* SPDX-License-Identifier: Apache-2.0 */
/* A controller that the program starts for itself. */
#ifndef LIFE_COMPANION_H
#define LIFE_COMPANION_H

/*
 * Start a controller of our own, as a process beside this one that no wait() of the program finds,
 * and be watched by it. `options` as in TRAPLINE_OPTIONS; NULL: that variable's. 0 or -errno.
 */
int agent_start_companion(const char *options);

#endif
