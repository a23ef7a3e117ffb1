/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads of memory that nobody wrote: a tool on <trapline/tool.h>.
 *
 * The room holds the callbacks (uninit.c) and their state (state.h); words that are watched
 * (words.h, watching.c) and what comes of a load of one (load.h); frames as functions are entered
 * (frames.h); what a held thread will load (predict.h, ahead.h) and what becomes of a value that it
 * has loaded (follow.h); every rule that hides a read (rules.h); and the findings' words
 * (describe.h). It promises that what is told was loaded at a hit, with no store to those bytes
 * seen since the block's birth or the function's entry. The controller's thread runs all of it.
 */
#ifndef UNINIT_UNINIT_H
#define UNINIT_UNINIT_H

#include <trapline/tool.h>

extern const struct tl_tool uninit_tool;

#endif
