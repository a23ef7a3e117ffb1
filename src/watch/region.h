/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is too long for slots is watched by protection keys. */
#ifndef WATCH_REGION_H
#define WATCH_REGION_H

#include "watch/piece.h"

#include <stdbool.h>
#include <stdint.h>

struct trace;

bool region_possible(const struct watch *watch, const struct watched *process);
/* Does the memory there share a page with a region? */
bool region_beside(const struct watched *process, uint64_t address, uint64_t length);
int region_arm(struct watch *watch, struct watched *process, const struct piece *wish);
struct piece *region_piece(struct watch *watch, struct watched *process, const struct trace *trace);
void region_keep(struct watch *watch, struct watched *process, const struct trace *trace);
void region_report(struct watch *watch, struct watched *process);
void region_close_all(struct watched *process);

#endif
