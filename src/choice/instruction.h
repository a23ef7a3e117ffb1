/* SPDX-License-Identifier: Apache-2.0 */
/* Draws an instruction among code in use that accesses memory, or that calls a function outside the
 * program. */
#ifndef CHOICE_INSTRUCTION_H
#define CHOICE_INSTRUCTION_H

#include "explore/explorer.h"

/* Draws a function, so that each has its turn, then one of its instructions. Returns its address;
 * 0: there is none. *site: the site of `sites` that led to it; 0: it was drawn by chance. */
uint64_t instruction_draw(struct target *target, const struct sites *sites, uint64_t *site);
/* What the tool thinks of the instruction, 0 to TL_INTEREST_MAX; `context` is the struct target. */
unsigned instruction_interest(void *context, uint64_t pc);

#endif
