/* SPDX-License-Identifier: Apache-2.0 */
/* Correct programs whose threads, one after the other, have one stack and show a frame there at one
 * address. */
#include "cases.h"

#include <pthread.h>
#include <sched.h>

struct context {
	long value[6];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fill(struct context *context)
{
	for (int i = 0; i < 6; i++)
		context->value[i] = (long)cases_sum + i;
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct context *shown;

static void *show(void *unused)
{
	struct context context;

	(void)unused;
	fill(&context);
	pthread_mutex_lock(&lock);
	shown = &context;
	pthread_cond_broadcast(&changed);
	while (shown)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

APART static void look_at_shown(void)
{
	pthread_mutex_lock(&lock);
	while (!shown)
		pthread_cond_wait(&changed, &lock);
	for (int i = 0; i < 8; i++)
		cases_sum += (unsigned long)shown->value[i % 4];
	shown = NULL;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void *show_awake(void *unused)
{
	struct context context;

	(void)unused;
	fill(&context);
	__atomic_store_n(&shown, &context, __ATOMIC_RELEASE);
	while (__atomic_load_n(&shown, __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

APART static void look_at_one_awake(void)
{
	const struct context *context;

	while (!(context = __atomic_load_n(&shown, __ATOMIC_ACQUIRE)))
		sched_yield();
	for (int i = 0; i < 8; i++)
		cases_sum += (unsigned long)context->value[i % 4];
	__atomic_store_n(&shown, NULL, __ATOMIC_RELEASE);
}

/* Threads one after the other, on one stack, each of which shows its frame at the same address. */
static void each(void *(*shows)(void *), void (*looks)(void))
{
	while (again()) {
		pthread_t thread;

		pthread_create(&thread, NULL, shows, NULL);
		looks();
		pthread_join(thread, NULL);
	}
}

static void shown_by_each(void)
{
	each(show, look_at_shown);
}

static void shown_by_each_awake(void)
{
	each(show_awake, look_at_one_awake);
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"shown_by_each", shown_by_each},
						{"shown_by_each_awake", shown_by_each_awake},
						{NULL, NULL}};

	return run_case(cases, argc, argv);
}
