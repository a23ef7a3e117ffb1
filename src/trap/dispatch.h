/* SPDX-License-Identifier: Apache-2.0 */
/* From a SIGTRAP to the callback of the event it belongs to. */
#ifndef TRAP_DISPATCH_H
#define TRAP_DISPATCH_H

#include "trap/hit.h"
#include "trap/running.h"

#include <signal.h>

/* Own SIGTRAP in this process, once. 0 or -errno. */
int dispatch_install(void);

/* Hand one hit to its event's callback, within its limit; the record shows the event as running.
 * For hits that come another way than by a perf signal (regions). */
void dispatch_deliver(struct running *record, struct tl_hit *hit, tl_hit_fn *fn, void *arg);

#endif
