/* SPDX-License-Identifier: Apache-2.0 */
/* What calls through the table of procedure linkages are told by (process/stub.h). */
#ifndef STACK_CALLED_H
#define STACK_CALLED_H

#include "process/space.h"

/* Of an entry of the table that is not bound yet: the name of the function that it will lead to.
 * NULL for all else. Valid until the next call. */
const char *called_unbound(struct space *space, uint64_t target);

/* The name of the function that a call to `target` reaches, through the table or not, bound or not;
 * NULL: it is not known. Valid until the next call. */
const char *called_name(struct space *space, uint64_t target);

#endif
