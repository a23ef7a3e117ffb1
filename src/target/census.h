/* SPDX-License-Identifier: Apache-2.0 */
/* Counting how often the threads of a process wake, which says what armed slots cost it
 * (cost/wakeups.h) and whether they must be transient (target/transient.h). */
#ifndef TARGET_CENSUS_H
#define TARGET_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

struct target;

/* When it is due. True: it was. */
bool census_take(struct target *target, uint64_t now);

#endif
