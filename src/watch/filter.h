/* SPDX-License-Identifier: Apache-2.0 */
/* Which hits are shown: by what the user asked for, and how handlers are told to decide it. */
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
/* Called before the piece's slot is armed: tells handlers how its hits are judged. */
void filter_slot_begin(struct watch *watch, const struct watched *process, unsigned slot);
/* FILTER_REFUSALS: the hit passes. Otherwise the reason why not, which is also counted. */
enum filter_refusal filter_judge(struct watch *watch, const struct finding *finding,
				 const struct wanted *wanted, const struct trace *trace);
uint64_t filter_number(struct watch *watch, const struct trace *trace);
void filter_teach(struct watch *watch, struct watched *process, const struct finding *finding,
		  const struct trace *trace, enum filter_refusal refused, int place);
/* Adds what handlers have counted at taught places. slot >= 0: of that slot alone, which is about
 * to watch something else. */
void filter_collect(struct watch *watch, struct watched *process, int slot);
/* Called before the slot is disarmed: estimates the hits that nobody saw while it rested. */
void filter_estimate(struct watch *watch, const struct watched *process, unsigned slot);
/* Adds what handlers have counted, and has them send the next hit of each place again. */
void filter_refresh(struct watch *watch, struct watched *process);
void filter_process_end(struct watch *watch, struct watched *process);
void filter_print(const struct watch *watch);

#endif
