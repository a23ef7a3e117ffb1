/* SPDX-License-Identifier: Apache-2.0 */
/* Prices measured on this thread or on threads of our own: a hit beside its handler (the trap
 * and the signal), a switch, a sample. */
#ifndef COST_PRICE_H
#define COST_PRICE_H

#include <stdint.h>

/* ns of CPU time, measured on this thread with a watchpoint of its own. */
uint64_t price_of_hit(void);

/* ns of CPU time by which sleeping and waking takes a thread longer while watchpoints are armed
 * in it. Measuring takes about 50 ms, nearly all of it asleep. */
uint64_t price_of_switch(void);

/* The median; of an even number of prices the higher of the two in the middle. Sorts the array. */
int64_t price_middle(int64_t *prices, unsigned count);

/* ns that one interrupt of a clock with this period (ns of CPU time) takes from a thread that
 * computes. */
uint64_t price_of_sample(uint64_t period);

#endif
