/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of a poll, and time to stop all threads, five ways: the library's, by a poll of one load and
 * by one of two; page protection, as Java virtual machines do; a signal to each thread, as Boehm's
 * collector does; a polled flag with membarrier(2). usage: safepoint poll | stop ROUNDS      Prints
 * one JSON object a line.
 *
 * Stopping is measured twice: with every thread polling in a loop, and with two polling while the
 * others sleep in a declared blocking region, as most threads of a server do.
 */
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <trapline/trapline.h>
#include <unistd.h>

#define MAX_THREADS 256
#define LONGEST 4000000000u /* ns for one measurement */

enum way { TRAPLINE, INDIRECT, PAGE, SIGNAL, FLAG, WAYS };
static const char *const way_names[WAYS] = {"trapline", "indirect", "mprotect", "signal", "flag"};

static enum way way;
static bool sleepers; /* all but two sleep */
static unsigned thread_count;
static tl_safepoint *safepoint;
static volatile uint32_t *page;
static volatile uint32_t flag;
static uint32_t stopping, stopped, expected, ready, sleep_word;
static volatile bool ending;
static pthread_t threads[MAX_THREADS];
static bool blocking[MAX_THREADS];

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool is_ours(void)
{
	return way == TRAPLINE || way == INDIRECT;
}

static long futex(uint32_t *word, int operation, uint32_t value)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void park(void)
{
	if (__atomic_add_fetch(&stopped, 1, __ATOMIC_SEQ_CST) ==
	    __atomic_load_n(&expected, __ATOMIC_SEQ_CST))
		futex(&stopped, FUTEX_WAKE, 1);
	while (__atomic_load_n(&stopping, __ATOMIC_SEQ_CST))
		futex(&stopping, FUTEX_WAIT, 1);
	__atomic_sub_fetch(&stopped, 1, __ATOMIC_SEQ_CST);
}

static void on_signal(int number)
{
	(void)number;
	if (__atomic_load_n(&stopping, __ATOMIC_SEQ_CST))
		park();
}

/* With more threads than processors a thread that never yields would make all ways wait for the
 * scheduler's time slices alone. */
static void work(void)
{
	static __thread unsigned rounds;

	for (int i = 0; i < 100; i++)
		__asm__ volatile("" ::: "memory");
	if (++rounds % 64 == 0)
		sched_yield();
}

static void loop(void)
{
	const uint32_t *const volatile *place = is_ours() ? tl_safepoint_place(safepoint) : NULL;

	switch (way) {
	case INDIRECT:
		while (!ending) {
			work();
			TL_SAFEPOINT_POLL_AT(place);
		}
		break;
	case TRAPLINE:
		while (!ending) {
			work();
			TL_SAFEPOINT_POLL(safepoint);
		}
		break;
	case PAGE:
		while (!ending) {
			work();
			(void)*page;
		}
		break;
	case SIGNAL:
		while (!ending)
			work();
		break;
	default:
		while (!ending) {
			work();
			if (flag)
				park();
		}
	}
}

static void *thread_main(void *argument)
{
	size_t index = (size_t)argument;

	if (is_ours() && tl_safepoint_register(safepoint))
		abort();
	if (blocking[index] && is_ours())
		tl_safepoint_enter_blocking(safepoint);
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	if (blocking[index]) {
		while (!ending)
			futex(&sleep_word, FUTEX_WAIT, 0);
	} else {
		loop();
	}
	if (blocking[index] && is_ours())
		tl_safepoint_leave_blocking(safepoint);
	return NULL;
}

static void await_stopped(void)
{
	uint32_t seen;

	while ((seen = __atomic_load_n(&stopped, __ATOMIC_SEQ_CST)) != expected)
		futex(&stopped, FUTEX_WAIT, seen);
}

static void stop(void)
{
	if (is_ours()) {
		if (tl_safepoint_stop(safepoint, 60000000000))
			abort();
		return;
	}
	__atomic_store_n(&stopping, 1, __ATOMIC_SEQ_CST);
	if (way == PAGE)
		mprotect((void *)page, 4096, PROT_NONE);
	if (way == SIGNAL) {
		for (unsigned i = 0; i < thread_count; i++)
			pthread_kill(threads[i], SIGUSR1);
	}
	if (way == FLAG) {
		flag = 1;
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	}
	await_stopped();
}

static void resume(void)
{
	if (is_ours()) {
		tl_safepoint_resume(safepoint);
		return;
	}
	flag = 0;
	if (way == PAGE)
		mprotect((void *)page, 4096, PROT_READ);
	__atomic_store_n(&stopping, 0, __ATOMIC_SEQ_CST);
	futex(&stopping, FUTEX_WAKE, MAX_THREADS);
}

/* The ways written here count threads: all must have left before the next round. */
static void await_resumed(void)
{
	while (__atomic_load_n(&stopped, __ATOMIC_SEQ_CST))
		usleep(100);
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void begin(void)
{
	struct tl_safepoint_spec spec = {.size = sizeof(spec),
					 .flags = way == INDIRECT ? 0 : TL_SAFEPOINT_WATCHPOINT};

	ending = false;
	ready = stopped = 0;
	expected = 0;
	if (is_ours() && tl_safepoint_open(&safepoint, &spec))
		abort();
	for (unsigned i = 0; i < thread_count; i++) {
		blocking[i] = sleepers && i >= 2;
		/* A signal interrupts sleepers as well; the other ways leave them alone. */
		expected += way == SIGNAL || !blocking[i];
		pthread_create(&threads[i], NULL, thread_main, (void *)(size_t)i);
	}
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) != thread_count)
		usleep(1000);
}

static void end(void)
{
	ending = true;
	sleep_word = 1;
	futex(&sleep_word, FUTEX_WAKE, MAX_THREADS);
	for (unsigned i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	sleep_word = 0;
	if (is_ours())
		tl_safepoint_close(safepoint);
}

static void measure_stop(unsigned rounds)
{
	uint64_t stops[1000], resumes[1000], started, begun, middle;

	begin();
	started = now();
	for (unsigned i = 0; i < rounds; i++) {
		usleep(2000);
		begun = now();
		stop();
		middle = now();
		resume();
		resumes[i] = now() - middle;
		stops[i] = middle - begun;
		await_resumed();
		if (now() - started > LONGEST)
			rounds = i + 1;
	}
	end();
	qsort(stops, rounds, sizeof(stops[0]), compare);
	qsort(resumes, rounds, sizeof(resumes[0]), compare);
	printf("{\"what\":\"stop\",\"way\":\"%s\",\"sleepers\":%d,\"threads\":%u,\"p10\":%lu,"
	       "\"median\":%lu,\"p90\":%lu,\"resume\":%lu}\n",
	       way_names[way], sleepers, thread_count, stops[rounds / 10], stops[rounds / 2],
	       stops[rounds * 9 / 10], resumes[rounds / 2]);
	fflush(stdout);
}

#define TIME_LOOP(statement)                                       \
	({                                                         \
		uint64_t best_ = UINT64_MAX;                       \
		for (int try_ = 0; try_ < 20; try_++) {            \
			uint64_t begun_ = now();                   \
			for (int i_ = 0; i_ < 1000000; i_++) {     \
				statement;                         \
				__asm__ volatile("" ::: "memory"); \
			}                                          \
			begun_ = now() - begun_;                   \
			best_ = begun_ < best_ ? begun_ : best_;   \
		}                                                  \
		(double)best_ / 1000000;                           \
	})

static void measure_poll(void)
{
	struct tl_safepoint_spec spec = {.size = sizeof(spec)};
	const uint32_t *const volatile *place;
	double empty, load, two, region;
	double page_load, test;

	tl_safepoint_open(&safepoint, &spec);
	tl_safepoint_register(safepoint);
	empty = TIME_LOOP((void)0);
	load = TIME_LOOP(TL_SAFEPOINT_POLL(safepoint));
	place = tl_safepoint_place(safepoint);
	two = TIME_LOOP(TL_SAFEPOINT_POLL_AT(place));
	page_load = TIME_LOOP((void)*page);
	test = TIME_LOOP(if (flag) park());
	region = TIME_LOOP(tl_safepoint_enter_blocking(safepoint);
			   tl_safepoint_leave_blocking(safepoint));
	printf("{\"what\":\"poll\",\"empty\":%.3f,\"trapline\":%.3f,\"indirect\":%.3f,\"mprotect\":%.3f,"
	       "\"flag\":%.3f,\"region\":%.3f}\n",
	       empty, load, two, page_load, test, region);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 100;

	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	if (argc < 2 || rounds < 1 || rounds > 1000 ||
	    (strcmp(argv[1], "poll") && strcmp(argv[1], "stop"))) {
		fprintf(stderr, "usage: safepoint poll | stop ROUNDS      (1 to 1000 rounds)\n");
		return 2;
	}
	if (!strcmp(argv[1], "poll")) {
		measure_poll();
		return 0;
	}
	for (int asleep = 0; asleep < 2; asleep++) {
		sleepers = asleep;
		for (thread_count = 1; thread_count <= MAX_THREADS; thread_count *= 4) {
			for (int i = 0; i < WAYS; i++) {
				way = (enum way)i;
				measure_stop(rounds);
			}
		}
	}
	return 0;
}
