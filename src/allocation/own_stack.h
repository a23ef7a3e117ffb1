/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the calling thread's stack is known to be mapped. */
#ifndef ALLOCATION_OWN_STACK_H
#define ALLOCATION_OWN_STACK_H

#include <stdint.h>

/*
 * From the stack pointer up to where memory may be read as it is. That is the end of the thread's
 * own stack, whose pages above a running function stay mapped; on any other stack it is the end of
 * the page. Async-signal-safe.
 */
uint64_t own_stack_until(uint64_t stack_pointer);

#endif
