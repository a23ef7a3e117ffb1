/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use after return and overwritten frames: a tool on <trapline/tool.h>.
 *
 * The room holds the callbacks (stack.c) and their state (context.h); what code tells of frames
 * (code.h, functions.h); the three kinds of questions that take watches (use.h, guard.h, suspect.h)
 * and, with --all, what each thread comes to next (plan.h); what a thread will do with a pointer
 * (foretell.h); every rule that hides an access (rules.h); and the findings' words (tell.h). It
 * promises that what is told was seen at a hit, with its registers and stack: code and memory only
 * choose what is watched. The controller's thread runs all of it.
 */
#ifndef STACK_STACK_H
#define STACK_STACK_H

#include <trapline/tool.h>

extern const struct tl_tool stack_tool;

#endif
