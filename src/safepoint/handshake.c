/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>

#include "base/syscall.h"
#include "safepoint/request.h"
#include "safepoint/safepoint.h"

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static bool change_task(struct safepoint_thread *thread, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&thread->task, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static void run(struct safepoint_thread *thread)
{
	struct tl_safepoint_thread description;

	safepoint_describe(thread, &description);
	thread->safepoint->task(&description, thread->safepoint->task_argument);
	__atomic_store_n(&thread->task, TASK_DONE, __ATOMIC_SEQ_CST);
	safepoint_wake(&thread->task, INT_MAX);
}

/* The thread cannot leave its blocking region between the two reads: come_back() in thread.c sees
 * ON_BEHALF, or we see RUNNING. */
static void try_on_behalf(struct safepoint_thread *thread)
{
	if (load(&thread->state) != SAFEPOINT_BLOCKING ||
	    !change_task(thread, TASK_PENDING, TASK_ON_BEHALF))
		return;
	if (load(&thread->state) == SAFEPOINT_BLOCKING) {
		run(thread);
		return;
	}
	change_task(thread, TASK_ON_BEHALF, TASK_PENDING);
	safepoint_wake(&thread->task, INT_MAX);
}

static bool is_done(struct safepoint_thread *thread)
{
	if (load(&thread->task) != TASK_DONE)
		try_on_behalf(thread);
	return load(&thread->task) == TASK_DONE;
}

/* A thread seen PARKED is about to run again and must be armed as well. */
static void ask(struct safepoint_thread *thread)
{
	__atomic_store_n(&thread->task, TASK_PENDING, __ATOMIC_SEQ_CST);
	if (!is_done(thread))
		safepoint_arm(thread);
}

/* Withdraw what nobody began; wait for what somebody did, so that `fn` runs for no one afterwards.
 */
static void withdraw(struct safepoint_thread *thread)
{
	if (!change_task(thread, TASK_PENDING, TASK_NONE)) {
		while (load(&thread->task) == TASK_TAKEN && !safepoint_is_gone(thread))
			raw_nanosleep(100000);
		__atomic_store_n(&thread->task, TASK_NONE, __ATOMIC_SEQ_CST);
	}
	safepoint_disarm(thread);
}

int safepoint_handshake(struct tl_safepoint *safepoint, tl_safepoint_handshake_fn *fn, void *arg,
			uint64_t timeout_ns, const struct safepoint_saved *saved)
{
	uint64_t deadline = safepoint_deadline(timeout_ns);
	struct safepoint_thread *self = safepoint_self(safepoint);
	int err = safepoint_begin(safepoint, deadline, saved);

	if (err)
		return err;
	safepoint->task = fn;
	safepoint->task_argument = arg;
	for (struct safepoint_thread *thread = safepoint->threads; thread; thread = thread->next) {
		if (thread == self)
			run(thread);
		else
			ask(thread);
	}
	err = safepoint_await(safepoint, is_done, deadline);
	for (struct safepoint_thread *thread = safepoint->threads; thread; thread = thread->next)
		withdraw(thread);
	safepoint_end(safepoint);
	return err;
}
