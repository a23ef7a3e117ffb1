/* SPDX-License-Identifier: Apache-2.0 */
/* What functions of the C library do to the order of threads, told by their names alone. */
#ifndef SAMPLE_ORDER_H
#define SAMPLE_ORDER_H

#include "process/space.h"

enum order_effect { ORDER_NONE, ORDER_RELEASES, ORDER_WAITS /* for other threads */ };
enum order_effect order_effect(struct space *space, uint64_t function);

/* Of one that waits or releases: is its first argument a lock, held from the one to the other? */
bool order_is_lock(struct space *space, uint64_t function);

/* May several threads hold the lock that it takes? */
bool order_is_shared(struct space *space, uint64_t function);

/* Does it wait for others at a barrier or for a condition? */
bool order_is_wait(struct space *space, uint64_t function);

/* Is the thread over behind it, or one of the others? */
bool order_is_end(struct space *space, uint64_t function);

/* Is it pthread_once() or call_once(), which runs the function that its second argument is? */
bool order_is_once(struct space *space, uint64_t function);

/* Is it syscall(2), by which futexes are waited for; and is it that, by its first and third
 * argument? */
bool order_is_system_call(struct space *space, uint64_t function);
bool order_is_futex_wait(uint64_t number, uint64_t operation);

/* Is it what tells where a module's thread-local variables are? */
bool order_is_tls_address(struct space *space, uint64_t function);

/* Does it never come back, but end the process or leave by an exception or a jump? By its plain
 * name. */
bool order_name_never_returns(const char *name);
bool order_never_returns(struct space *space, uint64_t function);

/* Does it return a new block of memory? */
bool order_allocates(struct space *space, uint64_t function);

/* Does it wait for time to pass, or for what comes from outside? */
bool order_is_sleep(struct space *space, uint64_t function);

/* Which of its arguments is the function that a new thread begins with, in front of what that is
 * handed, as of pthread_create(); 0: it creates none. */
unsigned order_birth_argument(struct space *space, uint64_t function);

/* Does it order threads, allocate or tell the time? What it is handed is a lock, or memory that is
 * nobody else's: a thread held at a call of it meets no race there. */
bool order_is_its_purpose(struct space *space, uint64_t function);

#endif
