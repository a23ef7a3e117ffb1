/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/futex.h>

#include "base/syscall.h"
#include "safepoint/safepoint.h"

#define SECOND 1000000000u

uint64_t safepoint_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t safepoint_deadline(uint64_t timeout)
{
	uint64_t now = safepoint_now();

	return timeout > NO_DEADLINE - now ? NO_DEADLINE : now + timeout;
}

int safepoint_wait(uint32_t *word, uint32_t value, uint64_t deadline)
{
	struct timespec duration, *limit = NULL;
	uint64_t now;

	if (deadline != NO_DEADLINE) {
		now = safepoint_now();
		if (now >= deadline)
			return -ETIMEDOUT;
		duration.tv_sec = (time_t)((deadline - now) / SECOND);
		duration.tv_nsec = (long)((deadline - now) % SECOND);
		limit = &duration;
	}
	raw_futex(word, FUTEX_WAIT_PRIVATE, value, limit);
	return 0;
}

void safepoint_wake(uint32_t *word, unsigned count)
{
	raw_futex(word, FUTEX_WAKE_PRIVATE, count, NULL);
}

int safepoint_own(struct tl_safepoint *safepoint, uint64_t deadline)
{
	uint32_t self = (uint32_t)raw_gettid(), holder = 0;
	int err = 0;

	while (!__atomic_compare_exchange_n(&safepoint->owner, &holder, self, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		if (err)
			return err;
		__atomic_fetch_add(&safepoint->owner_waiters, 1, __ATOMIC_SEQ_CST);
		err = safepoint_wait(&safepoint->owner, holder, deadline);
		__atomic_fetch_sub(&safepoint->owner_waiters, 1, __ATOMIC_SEQ_CST);
		holder = 0;
	}
	return 0;
}

void safepoint_disown(struct tl_safepoint *safepoint)
{
	__atomic_store_n(&safepoint->owner, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&safepoint->owner_waiters, __ATOMIC_SEQ_CST))
		safepoint_wake(&safepoint->owner, 1);
}
