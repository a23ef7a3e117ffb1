/* SPDX-License-Identifier: Apache-2.0 */
/* Lasting watches of memory in which a thread has its handler's frames (handler/own_frame.h): such
 * a watch rests until the thread has gone on. */
#ifndef LASTING_FRAMED_H
#define LASTING_FRAMED_H

#include "target/target.h"

/* Has the watches rest that a handler asks it for, and those watch again that have rested. */
void framed_run(struct program *program);
/* When a rest ends, by CLOCK_MONOTONIC, ns; UINT64_MAX: none rests. */
uint64_t framed_next(const struct program *program);

#endif
