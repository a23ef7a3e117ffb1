/* SPDX-License-Identifier: Apache-2.0 */
/* An MCS lock whose queue nodes lie on the waiters' stacks. */
#include "../harness.h"
#include <stdatomic.h>

struct waiter {
	_Atomic(struct waiter *) next;
	atomic_int waiting;
};

static _Atomic(struct waiter *) tail;
static long guarded;
static char guarded_text[16];

static void acquire(struct waiter *self)
{
	struct waiter *previous;

	atomic_init(&self->next, NULL);
	atomic_init(&self->waiting, 1);
	previous = atomic_exchange_explicit(&tail, self, memory_order_acq_rel);
	if (!previous)
		return;
	atomic_store_explicit(&previous->next, self, memory_order_release);
	while (atomic_load_explicit(&self->waiting, memory_order_acquire))
		nap(50);
}

static void release(struct waiter *self)
{
	struct waiter *next = atomic_load_explicit(&self->next, memory_order_acquire);

	if (!next) {
		struct waiter *expected = self;

		if (atomic_compare_exchange_strong_explicit(
			    &tail, &expected, NULL, memory_order_acq_rel, memory_order_relaxed))
			return;
		while (!(next = atomic_load_explicit(&self->next, memory_order_acquire)))
			nap(50);
	}
	atomic_store_explicit(&next->waiting, 0, memory_order_release);
}

static void *worker(void *arg)
{
	struct waiter waiter;

	while (running()) {
		acquire(&waiter);
		guarded++;
		guarded_text[guarded & 15] = (char)(intptr_t)arg;
		release(&waiter);
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(worker, harness_threads);
	return harness_finish();
}
