/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routines that take turns on one stack copy their frames away and back (greenlet, callcc of Ruby
 * and Scheme). What a copy writes then over live frames is frames, too.
 */
#ifndef STACK_COPIED_H
#define STACK_COPIED_H

#include "stack/context.h"
#include "stack/rules.h"

/* Is the write made by a copy of memory elsewhere than on a stack that has a return address in it
 * and an address of the stack, as frames have? An array of return addresses alone is a backtrace.
 * COPIED_OTHER where no source is known. In hit(). */
enum copied copied_what(struct stack *stack, const struct tl_access *access);

#endif
