/* SPDX-License-Identifier: Apache-2.0 */
/* What functions of the C library do to the order of threads, told by their names alone. */
#ifndef SAMPLE_ORDER_H
#define SAMPLE_ORDER_H

#include "process/space.h"

enum order_effect { ORDER_NONE, ORDER_RELEASES, ORDER_WAITS /* for other threads */ };
enum order_effect order_effect(struct space *space, uint64_t function);

/* Of one that waits or releases: is its first argument a lock, held from the one to the other? */
bool order_is_lock(struct space *space, uint64_t function);

/* Does it wait for time to pass, or for what comes from outside? */
bool order_is_sleep(struct space *space, uint64_t function);

/* Which of its arguments is the function that a new thread begins with, in front of what that is
 * handed, as of pthread_create(); 0: it creates none. */
unsigned order_birth_argument(struct space *space, uint64_t function);

/* Does it order threads, allocate or tell the time? What it is handed is a lock, or memory that is
 * nobody else's: a thread held at a call of it meets no race there. */
bool order_is_its_purpose(struct space *space, uint64_t function);

#endif
