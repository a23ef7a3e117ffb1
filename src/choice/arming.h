/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arming and ending the watches that are chosen, whichever manner they are chosen in. The
 * controller's thread runs all of it.
 */
#ifndef CHOICE_ARMING_H
#define CHOICE_ARMING_H

#include "choice/code.h"

#define WINDOW_MAX (2 * SECOND) /* for an address that no other waits to replace */

/* Is it time to watch anything: after the start's delay, before the end, with budget left? */
bool may_watch(const struct explorer *explorer, uint64_t now);
/* Another watch of the slot begins: nothing is known of it yet. */
void arming_begin(struct target *target, const struct slot *slot);
/* A slot on code is only silenced, which lets nobody go: the thread that it holds stays held while
 * the address that it is about to access is watched. */
void arming_finish(struct explorer *explorer, struct target *target, struct slot *slot);
void arming_forget_hits(struct target *target, struct slot *slot);

/* Slots that watch code; `lasting`: those whose window is longer than others'. */
unsigned code_slots(const struct target *target, bool lasting);
/* All slots but the last may watch code. Where there is one alone, it may. */
bool is_for_code(const struct target *target, const struct slot *slot);
/* Where arming is slow: no widening, which would come too late, and holds at code long enough for
 * the slot to be armed that watches what the held thread is about to access. */
void suit_threads(const struct target *target, struct tl_watch *watch);

/* Watches an instruction in all threads, for `window` ns; one that is aimed at for up to `aimed`
 * ns, or where that is 0 no longer than others. False: there is no instruction to watch. */
bool arm_code(struct target *target, struct slot *slot, const struct code_wish *wish,
	      uint64_t window, uint64_t aimed);

#endif
