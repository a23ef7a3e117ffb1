/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose event wrote a record, in a process that is observed. A record has the address and, of the
 * events that watch it, one: a write at bytes that one expression watches for writes and another
 * for reads is two records.
 */
#ifndef OBSERVE_IDS_H
#define OBSERVE_IDS_H

#include "observe/observed.h"

/* The slot of the event with this number (PERF_SAMPLE_ID: of inherited ones that of the one that
 * was opened); NULL: it is open no longer. */
struct slot *observed_event_slot(struct target *target, uint64_t id);

#endif
