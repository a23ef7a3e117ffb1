/* SPDX-License-Identifier: Apache-2.0 */
/* The function that is replaced, where it runs: an execution breakpoint at its first instruction
 * takes every arrival there for a call. */
#ifndef GRAFT_ENTRY_H
#define GRAFT_ENTRY_H

#include "graft/image.h"
#include "module/module.h"

/* 0; -EINVAL with a sentence where arrivals are no calls, or nothing can be read there. */
int graft_entry_check(struct symbol_modules *modules, uint64_t address, struct graft_error *error);

#endif
