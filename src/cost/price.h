/* SPDX-License-Identifier: Apache-2.0 */
/* What one hit costs a thread, beside the handler: the trap and the signal. */
#ifndef COST_PRICE_H
#define COST_PRICE_H

#include <stdint.h>

/* ns of CPU time, measured on this thread with a watchpoint of its own. */
uint64_t price_of_hit(void);

/* ns of CPU time that it costs a thread to sleep and to wake with watchpoints armed over what it
 * costs without. Takes about 50 ms, nearly all of it asleep. */
uint64_t price_of_switch(void);

/* The middle one; of an even number, the dearer of two. Sorts them. */
int64_t price_middle(int64_t *prices, unsigned count);

/* ns that the interrupt of a clock with this period (ns of CPU time) takes of a thread that
 * computes. */
uint64_t price_of_sample(uint64_t period);

#endif
