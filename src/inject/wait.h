/* SPDX-License-Identifier: Apache-2.0 */
/* Until a traced thread stops. */
#ifndef INJECT_WAIT_H
#define INJECT_WAIT_H

#include <stdint.h>
#include <sys/types.h>

/* What waitpid(2) gives at once, but that the end of our own child is left to who waits for it: its
 * status is asked for once. */
pid_t wait_look(pid_t tid, int *status);

/*
 * Whoever is stopped waits for us, and being woken takes longer than a call of its: for `spin` ns
 * we look. Then SIGCHLD tells of a stop; it is blocked meanwhile (rush.h), and so never missed. 0;
 * -ESRCH: the thread ended; -ETIMEDOUT after `bound` ns.
 */
int wait_for(pid_t tid, int *status, uint64_t bound, uint64_t spin);

/* ns: as long as the thread may yet run for itself, and wait for the very CPU on which we look … */
#define WAIT_SPIN_NS 100000
/* … and while it makes a call for us, which a sleep of ours would prolong by a tenth of a
 * millisecond and more. */
#define WAIT_SPIN_CALL_NS 1000000

#endif
