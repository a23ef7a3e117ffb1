/* SPDX-License-Identifier: Apache-2.0 */
/* 100,000 threads, one after another from four creators. */
#include "hostile.h"

#define CREATORS 4
#define EACH 25000

static long ran;

static void *short_life(void *arg)
{
	noise_counter++;
	__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
	return arg;
}

static void *create(void *arg)
{
	for (int i = 0; i < EACH; i++) {
		pthread_t thread;

		expect(pthread_create(&thread, NULL, short_life, NULL) == 0);
		expect(pthread_join(thread, NULL) == 0);
	}
	return arg;
}

int main(void)
{
	pthread_t creators[CREATORS];

	for (int i = 0; i < CREATORS; i++)
		expect(pthread_create(&creators[i], NULL, create, NULL) == 0);
	for (int i = 0; i < CREATORS; i++)
		expect(pthread_join(creators[i], NULL) == 0);
	say("%ld threads ran", ran);
	return 0;
}
