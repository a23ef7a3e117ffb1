/* SPDX-License-Identifier: Apache-2.0 */
/* What a clock of samples costs each switch of threads, measured on two threads of our own that
 * hand a CPU to each other by pipes, as a server's threads do. */
#ifndef COST_HANDING_H
#define COST_HANDING_H

#include <stdint.h>

/* ns of CPU time by which a switch takes longer while clocks with this period (ns) are on in
 * both threads; 0: it could not be measured. Measuring takes some 10 ms of CPU time. */
uint64_t handing_price(uint64_t period);

#endif
