/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAM_LIFE_H
#define PROGRAM_LIFE_H

#include "record/area.h"

/* From now on area->life tells of this thread: that it is, and when it has ended. */
void life_begin(struct area *area);
void life_end(void);

#endif
