/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room holds how threads are held at an address, by what is remembered of it: where threads are
 * periodic, the first of two that are about to coincide; and not at all where a watch cost too
 * much. It keeps nothing but periods and cooldowns in history's tables, and writes only to the
 * area's slots. Promised: what choose_hold() writes there is complete before the event is pointed
 * at the address. The reserve (hold_keep()) and coincidences are written while handlers read: a
 * late one counts from the next hit on. The controller's thread runs all of it.
 */
#ifndef HOLD_HOLD_H
#define HOLD_HOLD_H

#include "explore/explorer.h"

/* Writes to the area how the slot's threads are to be held, just before it is armed. */
void choose_hold(struct target *target, struct slot *slot);
/* Was the slot armed for a foreseen conflict, or for a finding that is aimed at? */
bool hold_is_led(const struct target *target, const struct slot *slot);
/* Called once choice_of() tells what the slot was armed for: where that is neither a foreseen
 * conflict nor a finding aimed at, and some conflict is foreseen, threads keep FORESEEN_RESERVE of
 * their hold credit here. */
void hold_keep(struct target *target, const struct slot *slot);
void meeting_note(struct target *target, const struct slot *slot, const struct hit *hit);
/* Are two threads expected to coincide at the address that the slot watches? */
bool meeting_waits(const struct target *target, const struct slot *slot);
/* Makes the watch of an address that periodic threads access last until they coincide. */
void meeting_suit(struct target *target, struct tl_watch *watch);
/* Called when the slot's watch is over. */
void cooldown_note(struct target *target, const struct slot *slot);
bool cooldown_forbids(struct target *target, const struct tl_watch *watch);

#endif
