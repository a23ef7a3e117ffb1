/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/creation.h"

#include "base/counters.h"
#include "base/syscall.h"
#include "signal/borrower.h"
#include "signal/ownership.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <threads.h>
#include <trapline/event.h>

#define STEP_NS 20000
#define MAX_STEPS 5000

/*
 * Two counts of creations under way; `epoch` says to which of them new creations are added. A
 * thread that waits turns the epoch and waits for the other count to drain, twice, since a creator
 * may have read the epoch just before it turned (as in sleepable RCU: McKenney, "Sleepable
 * Read-Copy Update", 2006).
 */
static unsigned epoch;
static long under_way[2];

/* 1 + index while this thread is inside pthread_create(): a handler must not wait for itself. */
static __thread unsigned own_creation __attribute__((tls_model("initial-exec")));

static unsigned creation_begin(void)
{
	unsigned index = __atomic_load_n(&epoch, __ATOMIC_SEQ_CST) & 1;

	__atomic_fetch_add(&under_way[index], 1, __ATOMIC_SEQ_CST);
	own_creation = index + 1;
	return index;
}

static void creation_end(unsigned index)
{
	own_creation = 0;
	__atomic_fetch_sub(&under_way[index], 1, __ATOMIC_SEQ_CST);
}

static void drain(unsigned index)
{
	long own = own_creation == index + 1;

	for (int step = 0; __atomic_load_n(&under_way[index], __ATOMIC_SEQ_CST) > own; step++) {
		if (step == MAX_STEPS) {
			counter_increment(COUNTER_CREATIONS_UNSETTLED);
			return;
		}
		raw_nanosleep(STEP_NS);
	}
}

void creation_settle(void)
{
	for (int i = 0; i < 2; i++)
		drain(__atomic_fetch_add(&epoch, 1, __ATOMIC_SEQ_CST) & 1);
}

/* In a forked child no other thread creates one, and the child's signals are its own. */
static void forget_in_child(void)
{
	if (signal_is_owned(SIGTRAP))
		borrower_begin();
	under_way[0] = under_way[1] = 0;
	if (own_creation)
		under_way[own_creation - 1] = 1;
}

static int (*libc_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*libc_thrd_create)(thrd_t *, thrd_start_t, void *);

__attribute__((constructor)) static void resolve(void)
{
	if (libc_thrd_create)
		return;
	*(void **)&libc_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	*(void **)&libc_thrd_create = dlsym(RTLD_NEXT, "thrd_create");
	pthread_atfork(NULL, NULL, forget_in_child);
}

TL_API int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument)
{
	unsigned index;
	int err;

	resolve();
	index = creation_begin();
	err = libc_pthread_create(thread, attributes, start, argument);
	creation_end(index);
	return err;
}

TL_API int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	unsigned index;
	int result;

	resolve();
	index = creation_begin();
	result = libc_thrd_create(thread, start, argument);
	creation_end(index);
	return result;
}
