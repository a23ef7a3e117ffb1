/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers interrupt the very thread whose plain data they touch, through sig_atomic_t. */
#include "../harness.h"
#include <signal.h>

static __thread volatile sig_atomic_t interruptions;
static __thread long handled;

static void on_signal(int signal)
{
	(void)signal;
	interruptions++;
}

static void *interrupted(void *arg)
{
	(void)arg;
	while (running()) {
		if (interruptions) {
			interruptions = 0;
			handled++;
		}
		pace_hot();
	}
	return NULL;
}

static void *interrupt(void *arg)
{
	(void)arg;
	while (running()) {
		for (int i = 0; i < harness_threads - 1; i++)
			pthread_kill(harness_ids[i], SIGUSR1);
		nap(2000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};

	harness_init(argc, argv, 4);
	sigaction(SIGUSR1, &action, NULL);
	harness_start(interrupted, harness_threads - 1);
	harness_start(interrupt, 1);
	harness_sleep();
	__atomic_store_n(&harness_stop, 1, __ATOMIC_RELAXED);
	/* The interrupter first: it must not signal threads that are gone. */
	for (int i = harness_count - 1; i >= 0; i--)
		pthread_join(harness_ids[i], NULL);
	return 0;
}
