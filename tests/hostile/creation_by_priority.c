/* SPDX-License-Identifier: Apache-2.0 */
/* Who creates a thread has the highest priority, and the new thread the lowest, on one processor;
 * between them one spins until the creator has gone on. Whoever lets the creator wait for the new
 * thread stops all three. */
#include "hostile.h"

#include <sched.h>

#define ROUNDS 20

static int gone_on, ran;

static void *spin(void *arg)
{
	while (!__atomic_load_n(&gone_on, __ATOMIC_ACQUIRE))
		;
	return arg;
}

static void *run(void *arg)
{
	__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
	return arg;
}

/* On the processor that the creator is on. */
static pthread_t create(void *(*body)(void *), int priority)
{
	struct sched_param parameter = {.sched_priority = priority};
	pthread_attr_t attributes;
	pthread_t thread;

	expect(pthread_attr_init(&attributes) == 0);
	expect(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
	expect(pthread_attr_setschedpolicy(&attributes, SCHED_FIFO) == 0);
	expect(pthread_attr_setschedparam(&attributes, &parameter) == 0);
	expect(pthread_create(&thread, &attributes, body, NULL) == 0);
	pthread_attr_destroy(&attributes);
	return thread;
}

static void create_once(void)
{
	pthread_t spinner, thread;

	__atomic_store_n(&gone_on, 0, __ATOMIC_RELEASE);
	spinner = create(spin, 50);
	nap(20000); /* it has begun */
	thread = create(run, 10);
	__atomic_store_n(&gone_on, 1, __ATOMIC_RELEASE);
	expect(pthread_join(spinner, NULL) == 0);
	expect(pthread_join(thread, NULL) == 0);
}

static void *creator(void *arg)
{
	struct sched_param parameter = {.sched_priority = 90};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	expect(pthread_setaffinity_np(pthread_self(), sizeof(one), &one) == 0);
	expect(pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		create_once();
		nap(5000);
	}
	return arg;
}

int main(void)
{
	struct sched_param parameter = {.sched_priority = 90};
	pthread_t thread;

	if (sched_get_priority_max(SCHED_FIFO) < 90 ||
	    sched_setscheduler(0, SCHED_FIFO, &parameter))
		return SKIP;
	parameter.sched_priority = 0;
	expect(sched_setscheduler(0, SCHED_OTHER, &parameter) == 0);
	expect(pthread_create(&thread, NULL, creator, NULL) == 0);
	expect(pthread_join(thread, NULL) == 0);
	noise_start();
	noise_stop();
	say("%d threads ran", ran);
	return 0;
}
