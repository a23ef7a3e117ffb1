/* SPDX-License-Identifier: Apache-2.0 */
/* Hits of lasting watches: each is told in order and forgotten. Nobody is held to find a pair. */
#ifndef CONTROL_TRACES_H
#define CONTROL_TRACES_H

#include "target/target.h"

void traces_collect(struct control *control);
/* A record, out of the program's reach. */
void trace_tell(struct control *control, struct target *target, const struct area_hit *record,
		pid_t pid);

#endif
