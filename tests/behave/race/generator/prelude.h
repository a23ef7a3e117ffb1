/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every generated program stands on: a time bound, threads with memory of their own, pauses,
 * jobs that a dispatcher hands out, forked workers. tests/behave/race/generate copies it beside the
 * program; C11 and C++17.
 *
 * Nothing in here races: what threads share is constant after they start, or accessed atomically.
 * A finding in here is therefore a false one.
 */
#ifndef PRELUDE_H
#define PRELUDE_H

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_SLOTS 320
#define MILLISECOND 1000000ull
#define SECOND 1000000000ull

/* Keeps a value that was read without storing it anywhere. */
#define consume(value) __asm__ volatile("" : : "r"(value))
#define consume_real(value) __asm__ volatile("" : : "x"(value))

#if defined(__cplusplus)
#define per_thread thread_local
#else
#define per_thread _Thread_local
#endif

struct link {
	struct link *next;
	unsigned long value;
};

/* Threads of one group share a lock, and never one with those of another: what else the program
 * does puts no two sides of a race in order. */
struct group {
	pthread_mutex_t lock;
	unsigned long count;
	unsigned long history[16];
};

/* A thread's own memory. That of a thread that comes and goes stands MAX_SLOTS after that of the
 * one that creates it, and passes to the next. */
struct context {
	unsigned long words[64]; /* assembly counts on the order of the first three */
	unsigned char bytes[256];
	double reals[16];
	unsigned slot;
	unsigned rank; /* among those that access the object */
	struct group *group;
	uint64_t next; /* when its next access is due */
	uint64_t turn;
	unsigned position;
	uint32_t random;
	struct link chain[8];
	size_t length; /* 8, which the compiler does not know */
};

struct program {
	uint64_t burst_period, burst_length; /* ns; 0: always active */
	unsigned phase_begin, phase_end;     /* in thousandths of the run */
	unsigned forks;
	void (*setup)(void);
	void (*start)(void);
};

extern struct context *contexts;
extern int program_stop;
extern uint64_t program_begin, program_end;
extern const struct program program;

static inline uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static inline int running(void)
{
	return !__atomic_load_n(&program_stop, __ATOMIC_RELAXED);
}

/* Is this the time of a burst, and the phase, in which the object is accessed? */
static inline int active(void)
{
	uint64_t since = now() - program_begin, run = program_end - program_begin;

	if (program.burst_period && since % program.burst_period >= program.burst_length)
		return 0;
	return since >= run / 1000 * program.phase_begin && since < run / 1000 * program.phase_end;
}

static inline uint32_t draw(struct context *c)
{
	c->random = c->random * 1664525u + 1013904223u;
	return c->random >> 8;
}

/* Sleeps until `time`, or the program's end if that comes first. */
static inline void sleep_until(uint64_t time)
{
	struct timespec until;

	if (time > program_end)
		time = program_end;
	until.tv_sec = (time_t)(time / SECOND);
	until.tv_nsec = (long)(time % SECOND);
	while (running() && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
	if (time == program_end)
		__atomic_store_n(&program_stop, 1, __ATOMIC_RELAXED);
}

static inline void nap(uint64_t ns)
{
	sleep_until(now() + ns);
}

/* `period`, or with `jitter` between 70 and 130 percent of it. */
static inline uint64_t interval(struct context *c, uint64_t period, int jitter)
{
	return jitter ? period / 100 * (70 + draw(c) % 61) : period;
}

/* The first time is somewhere within the first period, which may be longer than the program. */
static inline void first_time(struct context *c, uint64_t period)
{
	c->next = program_begin + period / 1024 * (draw(c) % 1024);
}

/* Sleeps until the thread's next access. */
static inline int come_round(struct context *c, uint64_t period, int jitter)
{
	if (!c->next)
		first_time(c, period);
	c->next += interval(c, period, jitter);
	if (c->next < now())
		c->next = now();
	sleep_until(c->next);
	return running();
}

/* For threads that do not sleep: is the next access due? */
static inline int due(struct context *c, uint64_t period, int jitter)
{
	uint64_t time = now();

	if (!c->next)
		first_time(c, period);
	if (time < c->next)
		return 0;
	c->next = time + interval(c, period, jitter);
	return 1;
}

/* Burns about one nanosecond of CPU time per round. */
static inline void spin(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

/* Takes an octet from a pipe; 0 when the program ends. */
static inline int take(int descriptor)
{
	char octet;

	return read(descriptor, &octet, 1) == 1 && running();
}

static inline void give(int descriptor)
{
	if (write(descriptor, "j", 1) != 1)
		__atomic_store_n(&program_stop, 1, __ATOMIC_RELAXED);
}

static inline void begin_thread(pthread_t *thread, void *(*body)(void *), void *arg)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	if (pthread_create(thread, &attr, body, arg)) {
		fputs("cannot start a thread\n", stderr);
		exit(2);
	}
	pthread_attr_destroy(&attr);
}

#ifdef PRELUDE_MAIN

struct context *contexts;
int program_stop;
uint64_t program_begin, program_end;

static struct group groups[4];
static pthread_t threads[MAX_SLOTS];
static unsigned thread_count;
static double seconds = 10;

static void set_up_context(struct context *c, unsigned slot)
{
	c->slot = slot;
	c->group = &groups[2];
	c->random = slot * 2654435761u + 1;
	c->position = draw(c);
	c->length = 8;
	for (unsigned i = 0; i < 8; i++) {
		c->chain[i].next = &c->chain[(i * 5 + 1) % 8];
		c->chain[i].value = i;
	}
}

/* A thread that runs for as long as the program does; groups 0 and 1 are the sides of the race. */
static void add_thread(void *(*body)(void *), unsigned group, unsigned rank)
{
	struct context *c = &contexts[thread_count];

	c->group = &groups[group];
	c->rank = rank;
	begin_thread(&threads[thread_count++], body, c);
}

static void run_worker(void)
{
	contexts = (struct context *)calloc(2 * MAX_SLOTS, sizeof(*contexts));
	if (!contexts)
		exit(2);
	for (unsigned i = 0; i < 2 * MAX_SLOTS; i++)
		set_up_context(&contexts[i], i);
	for (unsigned i = 0; i < 4; i++)
		pthread_mutex_init(&groups[i].lock, NULL);
	program_begin = now();
	program_end = program_begin + (uint64_t)(seconds * 1e9);
	if (program.setup)
		program.setup();
	program.start();
	sleep_until(program_end);
}

static void join_threads(void)
{
	for (unsigned i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
}

static void finish(void);

static int run_program(int argc, char **argv)
{
	int failed = 0, status;
	pid_t parent = getpid();

	if (argc > 1)
		seconds = atof(argv[1]);
	for (unsigned i = 0; i < program.forks; i++) {
		pid_t child = fork();

		if (child < 0)
			exit(2);
		if (!child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(2);
			run_worker();
			finish();
			_exit(0);
		}
	}
	if (!program.forks) {
		run_worker();
		finish();
		return 0;
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}

#endif
#endif
