/* SPDX-License-Identifier: Apache-2.0 */
/* Probes: does memory change under a thread that is about to access it? */
#ifndef ANSWER_PROBE_H
#define ANSWER_PROBE_H

#include "explore/explorer.h"

void probe_begin(struct target *target, struct slot *slot, const struct hit *hit);
void probe_end(struct target *target, struct slot *slot);

#endif
