/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of an observed process's hits that are only counted. */
#ifndef OBSERVE_COUNT_H
#define OBSERVE_COUNT_H

#include "target/target.h"

/* Bytes of stack that are copied with each hit. */
unsigned observed_stack(const struct target *target);

/*
 * Asks the filter, as the handler does in programs that have it (handler/choose.c), where its
 * answer hangs on nothing that only the handler knows. True: the hit has been refused or counted at
 * a place that was taught, and there is no more to do. Else `hit` says whether it was asked.
 */
bool observed_count(struct target *target, struct area_hit *hit);

#endif
