/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mask registers of an interrupted thread: they say which elements of a vector its instruction
 * accessed, or is about to access. The C library's memset() of 40 bytes is a store of 64 of which
 * 24 are masked out, and some processors trip over masked-out elements as well.
 */
#ifndef AGENT_OPMASK_H
#define AGENT_OPMASK_H

#include "record/area.h"

#include <stdbool.h>
#include <ucontext.h>

/* The offset of the mask registers in a signal frame's standard-format XSAVE area; 0: the processor
 * has none. Slow: in a virtual machine the question may be answered by the host. */
uint16_t opmask_probe(void);
/* Copies the mask registers. `at`: as probed. False: there are none, or the frame does not hold
 * them. Async-signal-safe. */
bool opmask_note(const ucontext_t *context, unsigned at, uint64_t opmask[static AREA_OPMASKS]);

#endif
