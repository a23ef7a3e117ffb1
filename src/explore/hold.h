/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How threads are held at an address, by what is remembered of it: where threads are periodic the
 * first of two that are about to coincide; and not at all where a watch cost too much.
 */
#ifndef EXPLORE_HOLD_H
#define EXPLORE_HOLD_H

#include "explore/explorer.h"

void choose_hold(struct target *target, struct slot *slot); /* a strategy's publish … */
/* … and visit */
/* Was it armed for a foreseen conflict, or for a finding that is aimed at? */
bool hold_is_led(const struct target *target, const struct slot *slot);
/* Of what the slot was armed for, once choice_of() tells: nobody is held there for what is kept for
 * foreseen conflicts. */
void hold_keep(struct target *target, const struct slot *slot);
void meeting_note(struct target *target, const struct slot *slot, const struct hit *hit);
/* Are two threads expected at the address that is watched, now or later? At any that is? */
bool meeting_waits(const struct target *target, const struct slot *slot);
bool meeting_is_on(const struct target *target);
/* An address that periodic threads come by is watched until they coincide. */
void meeting_suit(struct target *target, struct tl_watch *watch);
void cooldown_note(struct target *target, const struct slot *slot); /* its watch is over */
bool cooldown_forbids(struct target *target, const struct tl_watch *watch);

#endif
