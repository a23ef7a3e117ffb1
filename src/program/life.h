/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAM_LIFE_H
#define PROGRAM_LIFE_H

#include "record/area.h"

/* From life_begin() on, area->life tells the program that this thread lives, and after its end that
 * it has ended. */
void life_begin(struct area *area);
void life_end(void);

#endif
