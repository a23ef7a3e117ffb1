/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of functions that are being entered. The first instruction of some functions is watched,
 * and a thread that comes to one is held there: by then nothing below its stack pointer has been
 * written for the new frame. The words there that it is predicted to load before it stores to them
 * (predict.h) are watched from then on, like words of a new block.
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

/* With `--all` the program's first function is watched, and from there on those that come next. */
void frames_process_began(struct frames *frames, pid_t pid);
void frames_process_ended(struct frames *frames, pid_t pid);
/* The function around `pc` is in use. */
void frames_see(struct frames *frames, pid_t pid, uint64_t pc);

/* Is it the cookie of one of the watches of functions? */
bool frames_owns(uint64_t cookie);
/* A thread has hit one of those watches: writes to `words` which words of the frame that it enters
 * are to be watched, and returns how many, `most` at most. */
unsigned frames_entered(struct frames *frames, const struct tl_access *access,
			struct origin *origin, struct predict_word words[FRAMES_WORDS],
			unsigned most);
/* Are functions watched in the order of calls (`--all`)? Then frames_plan() watches those that the
 * thread comes to next from the one that was entered last, `room` at most, or the place that this
 * one returns to. */
bool frames_in_order(const struct frames *frames);
void frames_plan(struct frames *frames, pid_t pid, unsigned room);
void frames_unwatched(struct frames *frames, uint64_t cookie);

/* How many slots watch functions. */
unsigned frames_slots(const struct frames *frames, pid_t pid);
/* Frees one of these slots, for a word. False: none is in use. */
bool frames_give_way(struct frames *frames, pid_t pid);
/* Now and then: in each process with a free slot the function that has waited longest is watched.
 * `used`: slots that are in use, for words and functions. */
void frames_tick(struct frames *frames, unsigned (*used)(void *context, pid_t pid), void *context);

/* For how many ns a thread may be held where a function begins or at a load. To follow a value
 * takes up to two milliseconds. */
uint64_t frames_hold(const struct frames *frames);

#endif
