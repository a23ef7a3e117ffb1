/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Talking to a program that runs under another trapline: its area is found from outside and mapped.
 * What is written there reaches the program's threads and, after area_ring(), the controller.
 */
#ifndef PROGRAM_REACH_H
#define PROGRAM_REACH_H

#include "record/area.h"

/*
 * `pid`: a process of the program, or the trapline that runs it. 0; -ESRCH: there is no such
 * process; -ENOENT: it was not started under trapline, or that has ended; -EACCES: not permitted to
 * look; -EINVAL: under a trapline of another version. area_unmap() undoes it.
 */
int reach_area(struct area **area, pid_t pid);

/* One sentence for an error of reach_area(), without the process's number. */
const char *reach_explain(int err);

#endif
