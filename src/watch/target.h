/* SPDX-License-Identifier: Apache-2.0 */
/* From expressions to slots. */
#ifndef WATCH_TARGET_H
#define WATCH_TARGET_H

#include <stdbool.h>

/* ns between two looks at what may have changed, in a process whose scouts are out */
#define WATCH_LOOK_NS 1000000000u

struct watch;
struct watched;

/* Arms every expression that can be armed. Returns 0; or -EINVAL, having said why, if an expression
 * means nothing in the first process. */
int watch_resolve(struct watch *watch, struct watched *process, bool first);
/* Looks for expressions that had no meaning before, and for what has moved since. */
void watch_look_again(struct watch *watch, struct watched *process);
void watch_scout_tripped(struct watch *watch, struct watched *process);

#endif
