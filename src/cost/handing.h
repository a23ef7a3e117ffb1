/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads of our own that hand a CPU to each other by pipes, as those of servers do: what a
 * clock of samples costs each switch. */
#ifndef COST_HANDING_H
#define COST_HANDING_H

#include <stdint.h>

/* ns of CPU time that a switch takes more while clocks with this period (ns) are on in both
 * threads; 0: it could not be measured. Takes some 10 ms of CPU time. */
uint64_t handing_price(uint64_t period);

#endif
