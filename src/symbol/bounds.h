/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of functions from unwind tables, which stripped files have, too. */
#ifndef SYMBOL_BOUNDS_H
#define SYMBOL_BOUNDS_H

#include "module/module.h"

/* [*start, *end) of the code that one frame description covers around `pc`. 0 or -ENOENT. */
int symbol_bounds_find(struct symbol_modules *modules, uint64_t pc, uint64_t *start, uint64_t *end);

/*
 * [*start, *end) of the whole function, or of that part of a divided one which is around `pc`: what
 * one entry of the unwind table describes, where that has the form that linkers give it. 0 or
 * -ENOENT.
 */
int symbol_bounds_whole(struct symbol_modules *modules, uint64_t pc, uint64_t *start,
			uint64_t *end);

#endif
