/* SPDX-License-Identifier: Apache-2.0 */
/* 5,000 threads alive at once. */
#include "hostile.h"

#define THREADS 5000

static pthread_t threads[THREADS];
static long ran;

static void *body(void *arg)
{
	noise_counter++;
	nap(1500000);
	__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
	return arg;
}

int main(void)
{
	pthread_attr_t attr;

	expect(pthread_attr_init(&attr) == 0);
	expect(pthread_attr_setstacksize(&attr, 32 * 1024) == 0);
	noise_start();
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], &attr, body, NULL))
			return SKIP;
	}
	for (int i = 0; i < THREADS; i++)
		expect(pthread_join(threads[i], NULL) == 0);
	noise_stop();
	say("%ld threads ran", ran);
	return 0;
}
