/* SPDX-License-Identifier: Apache-2.0 */
/* The strategy of lasting watches, which the caller arms: control_arm(). */
#ifndef CONTROL_LASTING_H
#define CONTROL_LASTING_H

#include "control/control.h"
#include "explore/strategy.h"

extern const struct strategy lasting_strategy;

struct slot;
struct target;

/* A watched process and one of its slots; NULL: there is none. */
struct slot *lasting_slot(struct control *control, pid_t pid, unsigned index,
			  struct target **target);

#endif
