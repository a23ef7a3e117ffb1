/* SPDX-License-Identifier: Apache-2.0 */
/* An instruction that accesses memory, or calls what is not the program's, drawn at random among
 * code in use. */
#ifndef CHOICE_INSTRUCTION_H
#define CHOICE_INSTRUCTION_H

#include "explore/explorer.h"

/* Draws a function, so that each has its turn, then one of its instructions. In *site the site of
 * `sites` that led to it; 0: it was drawn by chance. 0: there is none. */
uint64_t instruction_draw(struct target *target, const struct sites *sites, uint64_t *site);
/* What the tool thinks of it; `context` is the struct target. */
unsigned instruction_interest(void *context, uint64_t pc);

#endif
