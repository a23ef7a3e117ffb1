/* SPDX-License-Identifier: Apache-2.0 */
/* Watches that tools place themselves, in the controller's thread: see control_place(). */
#ifndef CONTROL_PLACED_H
#define CONTROL_PLACED_H

#include "record/area.h"

#include <stdbool.h>
#include <stdint.h>

struct control;
struct target;

void placed_collect(struct control *control);	     /* tells the hits that have arrived */
void placed_run(struct control *control);	     /* ends the watches that are over */
uint64_t placed_next(const struct control *control); /* when one will be; ns, CLOCK_MONOTONIC */
void placed_end(struct target *target);
#endif
