/* SPDX-License-Identifier: Apache-2.0 */
/* Observing (control/observe.h), for the files of this folder. */
#ifndef CONTROL_OBSERVED_H
#define CONTROL_OBSERVED_H

#include "control/state.h"

int observed_arm(struct target *target, struct slot *slot, const struct tl_watch *watch);
void observed_disarm(struct target *target, struct slot *slot);
void observed_drain(struct target *target);
/* The last hits, so that the kernel's counts and ours are of the same. */
void observed_settle(struct target *target);
uint64_t observed_lost(const struct target *target);
void observed_close(struct observed *observed);
void observe_step(struct control *control);
void observe_check(struct target *target);
void observe_wait(struct control *control, uint64_t until);
bool observe_is_stopped(void); /* by control_stop() */
bool observe_is_over(const struct control *control);

#endif
