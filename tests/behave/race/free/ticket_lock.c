/* SPDX-License-Identifier: Apache-2.0 */
/* A ticket lock: LOCK XADD takes a number, plain MOVs wait for it and serve the next. */
#include "../harness.h"

static struct {
	unsigned short next;
	unsigned short serving;
} lock;

static int history[128];
static unsigned entries;

static void acquire(void)
{
	unsigned short mine = __atomic_fetch_add(&lock.next, 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&lock.serving, __ATOMIC_ACQUIRE) != mine)
		nap(50);
}

static void release(void)
{
	unsigned short now = __atomic_load_n(&lock.serving, __ATOMIC_RELAXED);

	__atomic_store_n(&lock.serving, (unsigned short)(now + 1), __ATOMIC_RELEASE);
}

static void *worker(void *arg)
{
	while (running()) {
		acquire();
		history[entries++ % 128] = (int)(intptr_t)arg;
		release();
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(worker, harness_threads);
	return harness_finish();
}
