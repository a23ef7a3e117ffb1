/* SPDX-License-Identifier: Apache-2.0 */
/* The module of module_churn.c: a counter that its callers race on. */
#include <pthread.h>

int module_loads;
static volatile long steps;
volatile long rounds; /* what is watched: 40 writes in each fresh module */
static pthread_mutex_t round_lock = PTHREAD_MUTEX_INITIALIZER;
static long table[512];

void *module_step(void *arg);

__attribute__((constructor)) static void count_load(void)
{
	module_loads++;
}

void *module_step(void *arg)
{
	for (int i = 0; i < 1000; i++)
		table[(steps++) & 511]++;
	pthread_mutex_lock(&round_lock);
	rounds++;
	pthread_mutex_unlock(&round_lock);
	return arg;
}
