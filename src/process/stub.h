/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of procedure linkage tables: where a module calls another's function, it calls a jump
 * through a word that the dynamic linker fills. */
#ifndef PROCESS_STUB_H
#define PROCESS_STUB_H

#include "process/space.h"

/* The address of the word that the entry at `target` jumps through; 0: it is no entry. */
uint64_t stub_slot(struct space *space, uint64_t target);

/* Where a call to `target` leads: to what the entry's word holds now; `target` itself where it is
 * no entry. A word that is not bound yet leads back into the table. */
uint64_t stub_target(struct space *space, uint64_t target);

#endif
