/* SPDX-License-Identifier: Apache-2.0 */
/* Any number of bytes, watched by as many slots as they need, or as a region. */
#ifndef WATCH_DATA_H
#define WATCH_DATA_H

#include <stdint.h>

struct watch;
struct watched;

/* Watches the target's length from `start` on. Arms all pieces, or none and returns -errno. */
int watch_arm_data(struct watch *watch, struct watched *process, unsigned wanted, uint64_t start,
		   uint64_t block);

#endif
