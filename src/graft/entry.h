/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the function that is replaced, where it runs. An execution breakpoint at its first
 * instruction takes every arrival there for a call, so that a function with a loop back to it
 * cannot be replaced. */
#ifndef GRAFT_ENTRY_H
#define GRAFT_ENTRY_H

#include "graft/image.h"
#include "module/module.h"

/* 0; -EINVAL with a sentence where some arrivals are no calls, or where nothing can be read. */
int graft_entry_check(struct symbol_modules *modules, uint64_t address, struct graft_error *error);

#endif
