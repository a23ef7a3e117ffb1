/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything at once: threads that read, write, copy and hand watched memory to the kernel, a timer
 * whose handler touches it too, regions that come and go, threads that start and end. Each thread
 * counts what it does; in the end the counts must be equal.
 */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/time.h>

#define PAGE 4096ul
#define THREADS 4
#define ROUNDS 150
#define TICK_US 5000

static volatile unsigned char *memory;
static long expected_writes, expected_reads, expected_kernel;
static long seen_writes, seen_reads, seen_kernel, ticks;
static volatile int ending;

static void expect(long *what, long many)
{
	__atomic_fetch_add(what, many, __ATOMIC_RELAXED);
}

static void tally(tl_hit *hit, void *arg)
{
	unsigned access = tl_hit_access(hit);

	(void)arg;
	CHECK(!(access & (TL_GUESSED | TL_LATE)));
	if (access & TL_KERNEL)
		expect(&seen_kernel, 1);
	else
		expect(access & TL_WRITE ? &seen_writes : &seen_reads, 1);
}

static void on_tick(int signal)
{
	(void)signal;
	memory[50] = 1;
	expect(&ticks, 1);
}

static void *work(void *arg)
{
	volatile unsigned char *mine = memory + 64 + 32 * (size_t)arg;
	int zero = open("/dev/zero", O_RDWR);

	for (int i = 0; i < ROUNDS; i++) {
		const void *from = (const void *)mine;
		char copy[16];
		void *to = copy;
		size_t length = sizeof(copy);

		mine[i % 32] = (unsigned char)i;
		(void)mine[(i + 7) % 32];
		memory[4000 + i % 96] = 1; /* beside it */
		__asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(length) : : "memory");
		CHECK_EQUAL(read(zero, (void *)mine, 8), 8);
	}
	expect(&expected_writes, ROUNDS);
	expect(&expected_reads, ROUNDS * 17);
	expect(&expected_kernel, ROUNDS);
	close(zero);
	return NULL;
}

static void *come_and_go(void *arg)
{
	while (!ending) {
		tl_event *event = check_open(memory + 2 * PAGE, 100, TL_WRITE, TL_PROCESS,
					     check_count_hit, NULL);
		volatile char *pages = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK_OK(tl_event_move(event, (const void *)pages, 100, 0));
		pages[0] = 1;
		CHECK_EQUAL(tl_event_hits(event), 1);
		munmap((void *)pages, PAGE);
		CHECK_OK(tl_event_close(event));
	}
	return arg;
}

static void work_in_threads(void)
{
	pthread_t thread[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		CHECK_EQUAL(pthread_create(&thread[i], NULL, work, (void *)i), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

int main(void)
{
	struct itimerval interval = {{0, TICK_US}, {0, TICK_US}}, stop = {{0, 0}, {0, 0}};
	struct sigaction action;
	pthread_t other;
	tl_event *event;
	int key = pkey_alloc(0, 0);

	if (key < 0)
		check_skip("this machine has no protection keys");
	memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	event = check_open(memory + 40, 3900, TL_READ | TL_WRITE, TL_PROCESS, tally, NULL);
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_tick;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
	pthread_create(&other, NULL, come_and_go, NULL);
	for (int round = 0; round < 3; round++)
		work_in_threads();
	ending = 1;
	pthread_join(other, NULL);
	setitimer(ITIMER_REAL, &stop, NULL);
	CHECK_EQUAL(seen_reads, expected_reads);
	CHECK_EQUAL(seen_writes, expected_writes + ticks);
	CHECK_EQUAL(seen_kernel, expected_kernel);
	CHECK_EQUAL(tl_event_hits(event), seen_reads + seen_writes + seen_kernel);
	tl_event_close(event);
	fprintf(stderr, "%ld hits, %ld ticks\n", seen_reads + seen_writes + seen_kernel, ticks);
	return 0;
}
