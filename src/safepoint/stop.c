/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/counters.h"
#include "base/syscall.h"
#include "safepoint/request.h"
#include "safepoint/safepoint.h"

/* How often a thread that does not come is asked after: it may have ended without leaving. */
#define CHECK_INTERVAL 20000000u /* ns */

int safepoint_begin(struct tl_safepoint *safepoint, uint64_t deadline,
		    const struct safepoint_saved *saved)
{
	struct safepoint_thread *self = safepoint_self(safepoint);
	int err;

	if (__atomic_load_n(&safepoint->owner, __ATOMIC_SEQ_CST) == (uint32_t)raw_gettid())
		return -EDEADLK;
	if (self)
		safepoint_block(self, saved);
	err = safepoint_own(safepoint, deadline);
	if (err && self)
		safepoint_unblock(self);
	if (err)
		safepoint->laggard = 0;
	return err;
}

void safepoint_end(struct tl_safepoint *safepoint)
{
	struct safepoint_thread *self = safepoint_self(safepoint);

	safepoint_disown(safepoint);
	if (self)
		safepoint_unblock(self);
}

/* Sleep until this thread made progress, or others did just now. */
static int sleep_for_progress(struct tl_safepoint *safepoint, pid_t thread, uint32_t seen,
			      uint64_t deadline)
{
	uint64_t next = safepoint_now() + CHECK_INTERVAL;
	int err;

	__atomic_store_n(&safepoint->watched, (uint32_t)thread, __ATOMIC_SEQ_CST);
	err = safepoint_wait(&safepoint->progress, seen, next < deadline ? next : deadline);
	__atomic_store_n(&safepoint->watched, 0, __ATOMIC_SEQ_CST);
	return err;
}

static void bury(struct tl_safepoint *safepoint, struct safepoint_thread *thread)
{
	safepoint_remove(safepoint, thread);
	safepoint_free(thread);
}

int safepoint_await(struct tl_safepoint *safepoint, bool (*is_done)(struct safepoint_thread *),
		    uint64_t deadline)
{
	struct safepoint_thread *self = safepoint_self(safepoint);
	struct safepoint_thread *thread = safepoint->threads, *next;

	for (; thread; thread = next) {
		uint64_t asked = safepoint_now();
		bool gone = false;

		next = thread->next;
		while (thread != self && !gone) {
			uint32_t seen = __atomic_load_n(&safepoint->progress, __ATOMIC_SEQ_CST);

			if (is_done(thread))
				break;
			sleep_for_progress(safepoint, thread->tid, seen, deadline);
			if (safepoint_now() - asked > CHECK_INTERVAL) {
				asked = safepoint_now();
				gone = safepoint_is_gone(thread);
			}
			if (!gone && safepoint_now() >= deadline && !is_done(thread)) {
				counter_increment(COUNTER_SAFEPOINT_TIMEOUTS);
				safepoint->laggard = thread->tid;
				return -ETIMEDOUT;
			}
		}
		if (gone)
			bury(safepoint, thread);
	}
	safepoint->laggard = 0;
	return 0;
}

static bool is_stopped(struct safepoint_thread *thread)
{
	return __atomic_load_n(&thread->state, __ATOMIC_SEQ_CST) != SAFEPOINT_RUNNING;
}

static void let_go(struct tl_safepoint *safepoint)
{
	for (struct safepoint_thread *thread = safepoint->threads; thread; thread = thread->next)
		safepoint_disarm(thread);
	safepoint->stopped = false;
	__atomic_store_n(&safepoint->stopping, 0, __ATOMIC_SEQ_CST);
	safepoint_wake(&safepoint->stopping, INT_MAX);
	safepoint_end(safepoint);
}

int safepoint_stop(struct tl_safepoint *safepoint, uint64_t timeout_ns, void *b, void *c,
		   const struct safepoint_saved *saved)
{
	uint64_t deadline = safepoint_deadline(timeout_ns);
	int err = safepoint_begin(safepoint, deadline, saved);

	(void)b;
	(void)c;
	if (err)
		return err;
	__atomic_store_n(&safepoint->stopping, 1, __ATOMIC_SEQ_CST);
	for (struct safepoint_thread *thread = safepoint->threads; thread; thread = thread->next) {
		if (!is_stopped(thread))
			safepoint_arm(thread);
	}
	safepoint->stopped = true;
	err = safepoint_await(safepoint, is_stopped, deadline);
	if (err)
		let_go(safepoint);
	return err;
}

static bool is_stopper(const struct tl_safepoint *safepoint)
{
	return __atomic_load_n(&safepoint->owner, __ATOMIC_SEQ_CST) == (uint32_t)raw_gettid() &&
	       safepoint->stopped;
}

int tl_safepoint_resume(tl_safepoint *safepoint)
{
	if (!is_stopper(safepoint))
		return -EPERM;
	let_go(safepoint);
	return 0;
}

pid_t tl_safepoint_laggard(const tl_safepoint *safepoint)
{
	return safepoint->laggard;
}

int tl_safepoint_each(tl_safepoint *safepoint, tl_safepoint_each_fn *fn, void *arg)
{
	struct tl_safepoint_thread description;
	int result = 0;

	if (!is_stopper(safepoint))
		return -EPERM;
	for (struct safepoint_thread *thread = safepoint->threads; thread && !result;
	     thread = thread->next) {
		safepoint_describe(thread, &description);
		result = fn(&description, arg);
	}
	return result;
}
