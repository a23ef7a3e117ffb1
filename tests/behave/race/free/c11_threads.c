/* SPDX-License-Identifier: Apache-2.0 */
/* <threads.h>: mtx_t, cnd_t, call_once, tss. */
#include "../harness.h"
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static once_flag flag = ONCE_FLAG_INIT;
static int turn;
static int started;

static void start(void)
{
	started = 1;
}

static void *play(void *arg)
{
	int self = (int)(intptr_t)arg;

	call_once(&flag, start);
	while (running() && started) {
		mtx_lock(&lock);
		while (turn != self && running())
			cnd_wait(&changed, &lock);
		turn = (self + 1) % harness_threads;
		cnd_broadcast(&changed);
		mtx_unlock(&lock);
		nap(300);
	}
	mtx_lock(&lock);
	cnd_broadcast(&changed);
	mtx_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	mtx_init(&lock, mtx_plain);
	cnd_init(&changed);
	harness_start(play, harness_threads);
	return harness_finish();
}
