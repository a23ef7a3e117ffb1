/* SPDX-License-Identifier: Apache-2.0 */
/* Lasting watches of memory in which a thread has its handler's frames (handler/own_frame.h): they
 * rest until it has gone on. */
#ifndef LASTING_FRAMED_H
#define LASTING_FRAMED_H

#include "target/target.h"

void framed_run(struct program *program);
uint64_t framed_next(const struct program *program); /* when it is to run again */

#endif
