/* SPDX-License-Identifier: Apache-2.0 */
/* Threads wait for SIGTRAP until the end of time, with sigtimedwait(): none comes back early. */
#include "hostile.h"
#include <sched.h>

#define WAITERS 6
#define SIGNALS 2000

static int taken, early;

static void *wait_for_signals(void *argument)
{
	const struct timespec far = {INT64_MAX, 0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGUSR1);
	for (;;) {
		int number = sigtimedwait(&set, NULL, &far);

		if (number == SIGTRAP)
			__atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST);
		else if (number == SIGUSR1)
			return argument;
		else if (errno != EINTR)
			__atomic_fetch_add(&early, 1, __ATOMIC_SEQ_CST);
	}
}

int main(void)
{
	pthread_t waiters[WAITERS];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGUSR1);
	expect(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	noise_start();
	for (int i = 0; i < WAITERS; i++)
		expect(pthread_create(&waiters[i], NULL, wait_for_signals, NULL) == 0);
	for (int i = 0; i < SIGNALS; i++) {
		expect(kill(getpid(), SIGTRAP) == 0);
		while (__atomic_load_n(&taken, __ATOMIC_SEQ_CST) <= i)
			sched_yield();
	}
	for (int i = 0; i < WAITERS; i++)
		expect(pthread_kill(waiters[i], SIGUSR1) == 0);
	for (int i = 0; i < WAITERS; i++)
		expect(pthread_join(waiters[i], NULL) == 0);
	noise_stop();
	say("%d taken, %d early", taken, early);
	return 0;
}
