/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that are cancelled at any instruction, with which they write what is watched: their
 * cleanup runs with the mask and on the stack that they had. */
#include "hostile.h"

#define THREADS 600

static volatile long noise_writes;
static volatile int begun;
static int cleaned, masked;

static void clean_up(void *arg)
{
	sigset_t mask;

	(void)arg;
	expect(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
	/* But the one by which it was cancelled. */
	masked += sigismember(&mask, SIGTRAP) == 1 || sigismember(&mask, SIGTERM) == 1;
	cleaned++;
}

static void *body(void *arg)
{
	pthread_cleanup_push(clean_up, NULL);
	expect(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
	begun = 1;
	for (;;)
		noise_writes++;
	pthread_cleanup_pop(0);
	return arg;
}

int main(void)
{
	noise_start();
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;
		void *result;

		begun = 0;
		expect(pthread_create(&thread, NULL, body, NULL) == 0);
		while (!begun)
			nap(100);
		nap(100 + 90 * (i % 10));
		expect(pthread_cancel(thread) == 0);
		expect(pthread_join(thread, &result) == 0);
		expect(result == PTHREAD_CANCELED);
	}
	noise_stop();
	say("%d cancelled, %d of them with signals blocked", cleaned, masked);
	return 0;
}
