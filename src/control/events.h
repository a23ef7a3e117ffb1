/* SPDX-License-Identifier: Apache-2.0 */
/* The callbacks that the rooms below are handed, so that none of them calls a room above it by
 * name. */
#ifndef CONTROL_EVENTS_H
#define CONTROL_EVENTS_H

#include "explore/explorer.h"
#include "hit/collect.h"
#include "notice/notice.h"
#include "observe/observe.h"
#include "placed/placed.h"
#include "program/program.h"

extern const struct program_events control_events;
extern const struct hit_events control_hit_events;
extern const struct explorer_events control_explorer_events;
extern const struct observe_events control_observe_events;
extern const struct notice_events control_notice_events;
extern const struct placed_events control_placed_events;

/* A hit of a lasting watch. */
struct trace;
void control_trace(struct program *program, const struct trace *trace);

#endif
