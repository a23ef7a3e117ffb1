/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_SWITCHES_H
#define CONTROL_SWITCHES_H

#include "control/private.h"

/* Measures the prices, beside what else is done. */
void switches_start(struct control *control);
/* Again, a few times in the first seconds. */
void switches_price(struct control *control, uint64_t now);
void switches_end(struct control *control);
/* A slot of the target begins or ends to watch. */
void switches_armed(struct target *target, const struct slot *slot);
void switches_silent(struct target *target, const struct slot *slot);
/* What a slot that is armed costs a thread of this target that comes and goes, ns. */
double switches_price_of(const struct target *target);
/* CPU time, ns, that was taken of the programs since the last call, as estimated. */
struct switches_cost {
	double switching; /* by slots and clocks as threads came and went */
	double sampling;  /* by the clocks' interrupts */
};

struct switches_cost switches_spent(struct control *control);

#endif
