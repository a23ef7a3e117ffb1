/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of one size from two functions, in a program that runs for a while: `heap_running SECONDS
 * [THREADS]` says "ready", and "ok" at its end. Each round make() allocates 48 bytes, whose state
 * is written three times, and frees them; other() is given the same memory at once, as a rule, and
 * writes 7 there, never anything else.
 *
 * `heap_running calls N` says "ready", waits for a line, has make() allocate N times and says how
 * many ms that took. `heap_running SECONDS THREADS stack` handles a signal on an alternate stack.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct item {
	volatile long id;
	volatile int state;
	char name[36];
};

static time_t end;
static volatile long wrong;

__attribute__((noinline)) static void *allocate(size_t size)
{
	void *block = malloc(size);

	if (!block)
		abort();
	return block;
}

__attribute__((noinline)) static struct item *make(long id)
{
	struct item *item = allocate(sizeof(*item));

	item->id = id;
	item->state = 1; /* born */
	return item;
}

__attribute__((noinline)) static struct item *other(long id)
{
	struct item *item = allocate(sizeof(*item));

	item->id = id;
	item->state = 7;
	return item;
}

__attribute__((noinline)) static void finish(struct item *item)
{
	item->state = 2; /* used */
	item->state = 3; /* finished */
}

/* Called by nobody. */
__attribute__((noinline, used)) static struct item *never(long id)
{
	return allocate(sizeof(struct item) + (size_t)id);
}

static void *work(void *unused)
{
	for (long i = 0; time(NULL) < end; i++) {
		struct item *item = make(i);

		finish(item);
		if (item->id != i || item->state != 3)
			wrong++;
		free(item);
		item = other(-i);
		if (item->state != 7)
			wrong++;
		item = realloc(item, 2 * sizeof(*item));
		if (!item || item->state != 7)
			wrong++;
		free(item);
		usleep(300);
	}
	return unused;
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int call(int times)
{
	char line[16];
	long begin;

	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	begin = now();
	for (int i = 0; i < times; i++)
		free(make(i));
	printf("%ld\n", now() - begin);
	return 0;
}

static void ignore(int number)
{
	(void)number;
}

static void handle_on_stack(void)
{
	static char memory[65536];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	const struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_ONSTACK};

	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL))
		abort();
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[16];

	if (argc > 2 && strcmp(argv[1], "calls") == 0)
		return call(threads);
	if (argc > 3)
		handle_on_stack();
	end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	for (int i = 0; i < threads && i < 16; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < threads && i < 16; i++)
		pthread_join(thread[i], NULL);
	puts(wrong ? "wrong" : "ok");
	return wrong != 0;
}
