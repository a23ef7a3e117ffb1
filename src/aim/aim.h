/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aiming: the places of known findings (record/aim.h) are watched before anything else, in turns,
 * and it is counted how often two threads came to the same bytes by a finding's two places, and how
 * often at one moment.
 *
 * A process has a struct aimed where something is aimed at; the controller's thread alone touches
 * it.
 */
#ifndef AIM_AIM_H
#define AIM_AIM_H

#include "explore/explorer.h"
#include "record/aim.h"

/* Is something aimed at that has a place in this process? */
bool aim_is_on(const struct target *target);
/* Finds the places, when the process has begun and when its modules have changed. */
void aim_look(struct target *target, uint64_t now);
/* The instruction whose turn it is, and in *tid the thread that was there last, or 0. 0: none, or
 * it is the turn of another way to choose. */
uint64_t aim_choose(struct target *target, pid_t *tid);
/* ns that it is watched for, at most `most`. */
uint64_t aim_window(const struct target *target, uint64_t usual, uint64_t most);
/* A thread has come by. */
void aim_visit(struct target *target, const struct slot *slot, const struct hit *hit);
/* Two threads are at the same bytes at one moment; before the pair is told to the tools, … */
void aim_pair(struct target *target, const struct slot *slot, const struct tl_pair *pair);
void aim_told(struct target *target); /* … and after that */
/* Another watch of the slot begins. */
void aim_begin(struct target *target, const struct slot *slot);
void aim_end(struct target *target);

#endif
