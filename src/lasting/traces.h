/* SPDX-License-Identifier: Apache-2.0 */
/* Hits of lasting watches: each is told in order and forgotten. No thread is held to find a
 * pair. */
#ifndef LASTING_TRACES_H
#define LASTING_TRACES_H

#include "target/target.h"

/* Takes all records that the program has published since, in the order of their times, tells each
 * and lets its thread go on. */
void traces_collect(struct program *program);
/* Tells a hit of the thread's process `pid`. `record`: a copy, out of the program's reach. */
void trace_tell(struct target *target, const struct area_hit *record, pid_t pid);

#endif
