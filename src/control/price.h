/* SPDX-License-Identifier: Apache-2.0 */
/* What one hit costs a thread, beside the handler: the trap and the signal. */
#ifndef CONTROL_PRICE_H
#define CONTROL_PRICE_H

#include <stdint.h>

/* ns of CPU time, measured on this thread with a watchpoint of its own. */
uint64_t price_of_hit(void);

#endif
