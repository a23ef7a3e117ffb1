/* SPDX-License-Identifier: Apache-2.0 */
/* What calls through the table of procedure linkages are told by (process/stub.h). */
#ifndef STACK_CALLED_H
#define STACK_CALLED_H

#include "process/space.h"

/* The name of the function that it leads to once it is bound, of an entry of the table that is not;
 * else NULL. Valid until the next call. */
const char *called_unbound(struct space *space, uint64_t target);

/* The name of what of another module is called, bound or not; NULL: it is not known. Valid until
 * the next call. */
const char *called_name(struct space *space, uint64_t target);

#endif
