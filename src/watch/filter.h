/* SPDX-License-Identifier: Apache-2.0 */
/* Which hits are shown: what the user asked for, and what handlers are taught of it. */
#ifndef WATCH_FILTER_H
#define WATCH_FILTER_H

#include "record/filter.h"
#include "record/finding.h"
#include "watch/wanted.h"

struct trace;
struct watch;
struct watched;

void filter_begin(struct watch *watch);
void filter_process_begin(struct watch *watch, struct watched *process);
/* Before the piece's slot is armed. */
void filter_slot_begin(struct watch *watch, const struct watched *process, unsigned slot);
/* FILTER_REFUSALS: it passes. Counts it else. */
enum filter_refusal filter_judge(struct watch *watch, const struct finding *finding,
				 const struct wanted *wanted, const struct trace *trace);
uint64_t filter_number(struct watch *watch, const struct trace *trace);
void filter_teach(struct watch *watch, struct watched *process, const struct finding *finding,
		  const struct trace *trace, enum filter_refusal refused, int place);
/* Adds what handlers counted; slot >= 0: of that slot alone, which is about to watch something
 * else. */
void filter_collect(struct watch *watch, struct watched *process, int slot);
/* Before it is disarmed: what was not seen there. */
void filter_estimate(struct watch *watch, const struct watched *process, unsigned slot);
/* Adds what handlers counted, and asks for one hit of each place. */
void filter_refresh(struct watch *watch, struct watched *process);
void filter_process_end(struct watch *watch, struct watched *process);
void filter_print(const struct watch *watch);

#endif
