/* SPDX-License-Identifier: Apache-2.0 */
/* From expressions to slots. */
#ifndef WATCH_TARGET_H
#define WATCH_TARGET_H

#include <stdbool.h>

#define WATCH_LOOK_NS 1000000000u /* between looks where scouts are out */

struct watch;
struct watched;

/* Arms what can be; 0, or -EINVAL when the first process
 * shows that one means nothing, and said why. */
int watch_resolve(struct watch *watch, struct watched *process, bool first);
/* Looks for expressions that name something only now, or something that has moved since. */
void watch_look_again(struct watch *watch, struct watched *process);
void watch_scout_tripped(struct watch *watch, struct watched *process);

#endif
