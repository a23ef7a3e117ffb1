/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arming and ending the watches that are chosen, in either manner. The controller's thread runs all
 * of it.
 */
#ifndef CHOICE_ARMING_H
#define CHOICE_ARMING_H

#include "choice/code.h"

#define WINDOW_MAX (2 * SECOND) /* of a watch while no other address waits for its slot */

/* May anything be watched now: after the start's delay, before the end, with budget left? */
bool may_watch(const struct explorer *explorer, uint64_t now);
/* Forgets the slot's last watch: another one begins. */
void arming_begin(struct target *target, const struct slot *slot);
/* Ends the slot's watch. A slot on an instruction is only silenced, which lets no thread go: the
 * thread held there stays held while the address is watched that it is about to access. */
void arming_finish(struct explorer *explorer, struct target *target, struct slot *slot);
void arming_forget_hits(struct target *target, struct slot *slot);

/* The number of slots that watch instructions; `lasting`: those alone whose window is longer than
 * usual. */
unsigned code_slots(const struct target *target, bool lasting);
/* May this slot watch an instruction? All slots but the last may; where there is one alone, it
 * may. */
bool is_for_code(const struct target *target, const struct slot *slot);
/* Adapts `watch` to a process in which arming is slow: it is not widened to reads, since that would
 * come too late, and holds at instructions last long enough for the slot to be armed that watches
 * what the held thread is about to access. */
void suit_threads(const struct target *target, struct tl_watch *watch);

/* Arms a watch of an instruction in all threads, for `window` ns. An aimed-at one is watched for up
 * to `aimed` ns; 0: as long as others. False: there is no instruction to watch. */
bool arm_code(struct target *target, struct slot *slot, const struct code_wish *wish,
	      uint64_t window, uint64_t aimed);

#endif
