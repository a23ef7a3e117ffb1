/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fresh frames: functions whose first instruction is watched. A thread that comes to one is held
 * there; nothing below its stack pointer has been written for it. What it is predicted to load of
 * that before it stores to it (predict.h) is watched from then on, as words of a fresh block are.
 */
#ifndef UNINIT_FRAMES_H
#define UNINIT_FRAMES_H

#include "uninit/predict.h"
#include "uninit/words.h"

#include <trapline/tool.h>

#define FRAMES_WORDS 2

struct frames;

struct frames *frames_create(struct tl_host *host, const struct tl_services *services);
void frames_destroy(struct frames *frames);

/* With `--all`: from the function on with which the program begins. */
void frames_process_began(struct frames *frames, pid_t pid);
void frames_process_ended(struct frames *frames, pid_t pid);
/* The function around `pc` is in use. */
void frames_see(struct frames *frames, pid_t pid, uint64_t pc);

/* Is it the cookie of one of the watches of functions? */
bool frames_owns(uint64_t cookie);
/* What is to be watched of the frame that is being entered: how many words, `most` at most. */
unsigned frames_entered(struct frames *frames, const struct tl_access *access,
			struct origin *origin, struct predict_word words[FRAMES_WORDS],
			unsigned most);
/* Are functions watched in the order of calls? Then those that come next, behind the one that was
 * entered last, are watched: `room` at most, or where that one returns to. */
bool frames_in_order(const struct frames *frames);
void frames_plan(struct frames *frames, pid_t pid, unsigned room);
void frames_unwatched(struct frames *frames, uint64_t cookie);

/* Slots that are in use for this. */
unsigned frames_slots(const struct frames *frames, pid_t pid);
/* One slot less, for a word. False: none is in use. */
bool frames_give_way(struct frames *frames, pid_t pid);
/* A slot is free: the function that has waited longest is watched. */
void frames_tick(struct frames *frames, unsigned (*used)(void *context, pid_t pid), void *context);

/* ns that a thread may be held, where a function begins or at a load: following a value takes up to
 * a millisecond or two. */
uint64_t frames_hold(const struct frames *frames);

#endif
