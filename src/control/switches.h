/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_SWITCHES_H
#define CONTROL_SWITCHES_H

#include "control/private.h"

/* Measures the prices, beside what else is done. */
void switches_start(struct control *control);
void switches_end(struct control *control);
/* A slot of the target begins or ends to watch. */
void switches_armed(struct target *target);
void switches_silent(struct target *target);
/* The CPU time that switching threads took of the programs since the last call, as estimated. */
uint64_t switches_spent(struct control *control);

#endif
