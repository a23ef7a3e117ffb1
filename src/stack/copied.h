/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of whole stacks. Routines that take turns on one stack copy their frames away and back
 * (greenlet, callcc of Ruby and Scheme): such a copy writes other frames over live ones, which is
 * no error.
 */
#ifndef STACK_COPIED_H
#define STACK_COPIED_H

#include "stack/context.h"
#include "stack/rules.h"

/* What the write of a hit copies. COPIED_STACK: its source lies outside the stack, and holds a
 * return address and an address of the stack, as frames do (return addresses alone are a
 * backtrace). COPIED_OTHER also where no source is known. To be called while the hit is handled. */
enum copied copied_what(struct stack *stack, const struct tl_access *access);

#endif
