/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds are paid from. Each thread has an account: a hold costs so much of the thread's own
 * time that holds take at most hold_parts/10000 of it. What a hold costs is what it delays
 * (record/delay.h): a thread that others hand work to pays for what queues up behind it, too. Where
 * that is more than half of what can be saved up, the shortest hold that is of use costs this half,
 * so that no thread is never held.
 *
 * A thread that has no account yet may have lived for microseconds; how long is not known. It is
 * taken to have lived for the CPU time it has used, and its first hold may also be paid from the
 * process's account, which earns for all new threads together: as much as `lanes` threads would
 * that are there all the time. Otherwise a program that makes a thread for each piece of work would
 * be held all the time, each thread having come with credit of its own.
 */
#ifndef ALLOWANCE_CREDIT_H
#define ALLOWANCE_CREDIT_H

#include "record/area.h"

#include <stdbool.h>
#include <stdint.h>

#define CREDIT_LEAST 20000u /* ns; a shorter hold is not worth the sleep */

struct wish {
	uint64_t hold;	/* ns */
	uint64_t least; /* less is not worth it: better to save up for the next time */
	uint64_t
		whole; /* not shortened to less for what waits meanwhile, but for want of savings */
	uint64_t reserve; /* of what is saved, left for others */
};

struct credit {
	uint64_t hold; /* ns; 0: not at all */
	struct area_credit *account;
	uint64_t parts; /* of its time: what a nanosecond costs */
	uint64_t cost;	/* ns of delay that were paid for */
	uint64_t most;	/* ns that can be saved up */
	uint32_t wakes; /* a second, of the thread */
};

/* A process begins, or is another program: no thread has an account. */
void credit_reset(const struct area *area, struct area_process *process, uint64_t now);
/* Has another thread, or none, used this thread's account last? */
bool credit_is_new(struct area_process *process, uint64_t identity);
/* How long a thread may be held now, paid for. `is_new`: its account is opened first; `lived`: ns
 * that it has been there at least. Async-signal-safe, as are all. */
struct credit credit_take(struct area *area, struct area_process *process, uint64_t identity,
			  uint64_t now, bool is_new, uint64_t lived, const struct wish *wish);
/* The same for a hold that is made whatever has been saved up, and lasts `hold` ns at most. */
struct credit credit_owe(struct area *area, struct area_process *process, uint64_t identity,
			 uint64_t now, uint64_t hold);
/* The hold took `held` ns, not what was paid for: the thread may have been woken late, or its hold
 * ended early. */
void credit_settle(struct area_process *process, const struct credit *credit, uint64_t held);

#endif
