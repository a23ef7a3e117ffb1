/* SPDX-License-Identifier: Apache-2.0 */
/* Where calls lead, through the table of procedure linkages. */
#ifndef STACK_CALLED_H
#define STACK_CALLED_H

#include "process/space.h"

/* As far as the table is bound. */
uint64_t called_function(struct space *space, uint64_t target);

/* The name of the function that it leads to once it is bound, of an entry of the table that is not;
 * else NULL. Valid until the next call. */
const char *called_unbound(struct space *space, uint64_t target);

/* Is it an entry of the table? */
bool called_is_entry(struct space *space, uint64_t target);

/* The name of what of another module is called, bound or not; NULL: it is not known. Valid until
 * the next call. */
const char *called_name(struct space *space, uint64_t target);

#endif
