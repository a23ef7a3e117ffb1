/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hit costs, and what arming costs by number of threads. Prints one JSON object a line; each
 * measurement runs in a child of its own, and those that are compared take turns.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <trapline/trapline.h>
#include <ucontext.h>
#include <unistd.h>

#define HITS 20000
#define ROUNDS 9
#define ARMINGS 60

static volatile long watched __attribute__((aligned(4096)));
static volatile long other;
static volatile long calls;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void fail(const char *what, int err)
{
	fprintf(stderr, "engine: %s: %s\n", what, tl_explain(err));
	exit(1);
}

/* Runs `measure` in a child and returns what it returned. */
static double in_child(double (*measure)(int), int argument)
{
	double *result =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double value;
	int status;
	pid_t child = fork();

	if (!child) {
		*result = measure(argument);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (status)
		exit(1);
	value = *result;
	munmap(result, 4096);
	return value;
}

/* ---- one hit ---------------------------------------------------------------------------- */

static double write_watched(int hits)
{
	double start = now_ns();

	for (int i = 0; i < hits; i++)
		watched = i;
	return (now_ns() - start) / hits;
}

static double read_watched(int hits)
{
	double start = now_ns();

	for (int i = 0; i < hits; i++)
		(void)watched;
	return (now_ns() - start) / hits;
}

static void bare_handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	calls++;
}

static double bare(int type)
{
	struct sigaction action = {.sa_sigaction = bare_handler, .sa_flags = SA_SIGINFO};
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .sample_period = 1,
				       .bp_type = (uint32_t)type,
				       .bp_addr = (unsigned long)&watched,
				       .bp_len = 8,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .inherit = 1,
				       .sigtrap = 1,
				       .remove_on_exec = 1};

	sigaction(SIGTRAP, &action, NULL);
	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0)
		fail("perf_event_open", -errno);
	return type == HW_BREAKPOINT_W ? write_watched(HITS) : read_watched(HITS);
}

static void count_call(tl_hit *hit, void *arg)
{
	(void)hit;
	(void)arg;
	calls++;
}

static tl_event *open_watch(unsigned access)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)&watched,
			       .len = 8,
			       .access = access,
			       .scope = TL_PROCESS};
	tl_event *event;
	int err = tl_event_open(&event, &spec, count_call, NULL);

	if (err)
		fail("tl_event_open", err);
	return event;
}

static double library(int access)
{
	double nanoseconds;

	open_watch((unsigned)access);
	nanoseconds = access == TL_WRITE ? write_watched(HITS) : read_watched(HITS);
	if (calls != HITS) {
		fprintf(stderr, "engine: %ld hits of %d\n", calls, HITS);
		exit(1);
	}
	return nanoseconds;
}

/* What people use without us: a page made unreadable, opened and closed again around each access.
 */
static void protection_handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= 0x100;
	mprotect((void *)&watched, 4096, PROT_READ | PROT_WRITE);
}

static void step_handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
	mprotect((void *)&watched, 4096, PROT_NONE);
}

static double page_protection(int argument)
{
	struct sigaction on_fault = {.sa_sigaction = protection_handler, .sa_flags = SA_SIGINFO};
	struct sigaction on_step = {.sa_sigaction = step_handler, .sa_flags = SA_SIGINFO};

	(void)argument;
	sigaction(SIGSEGV, &on_fault, NULL);
	sigaction(SIGTRAP, &on_step, NULL);
	mprotect((void *)&watched, 4096, PROT_NONE);
	return write_watched(HITS);
}

static void hits(void)
{
	for (int i = 0; i < ROUNDS; i++)
		printf("{\"what\":\"hit\",\"bare_write\":%.0f,\"library_write\":%.0f,"
		       "\"bare_read\":%.0f,\"library_read\":%.0f,\"mprotect\":%.0f}\n",
		       in_child(bare, HW_BREAKPOINT_W), in_child(library, TL_WRITE),
		       in_child(bare, HW_BREAKPOINT_RW), in_child(library, TL_READ),
		       in_child(page_protection, 0));
}

/* ---- arming ----------------------------------------------------------------------------- */

static sem_t started, never;
static volatile pid_t a_tid;

static void *sleeper(void *arg)
{
	a_tid = (pid_t)syscall(SYS_gettid);
	sem_post(&started);
	sem_wait(&never);
	return arg;
}

static void start_sleepers(int count)
{
	pthread_attr_t attributes;
	pthread_t thread;

	sem_init(&started, 0, 0);
	sem_init(&never, 0, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (int i = 0; i < count; i++) {
		if (pthread_create(&thread, &attributes, sleeper, NULL))
			fail("pthread_create", -EAGAIN);
		sem_wait(&started);
	}
}

/* The event is opened first: one inherited event, as a tool that starts the program has it. */
static double enable_disable(int threads)
{
	tl_event *event = open_watch(TL_WRITE);
	double start;

	start_sleepers(threads - 1);
	start = now_ns();
	for (int i = 0; i < ARMINGS; i++) {
		tl_event_disable(event);
		tl_event_enable(event);
	}
	return (now_ns() - start) / ARMINGS;
}

static double move_disabled(int threads)
{
	tl_event *event = open_watch(TL_WRITE);
	double start;

	start_sleepers(threads - 1);
	tl_event_disable(event);
	start = now_ns();
	for (int i = 0; i < ARMINGS; i++)
		tl_event_move(event, (const void *)(i % 2 ? &watched : &other), 8, 0);
	return (now_ns() - start) / ARMINGS;
}

static double open_close_one(int threads)
{
	pid_t tids[1];
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)&watched,
			       .len = 8,
			       .access = TL_WRITE,
			       .scope = TL_THREADS,
			       .tids = tids,
			       .ntids = 1};
	tl_event *event;
	double start;

	start_sleepers(threads);
	tids[0] = a_tid;
	start = now_ns();
	for (int i = 0; i < ARMINGS; i++) {
		int err = tl_event_open(&event, &spec, count_call, NULL);

		if (err)
			fail("tl_event_open", err);
		tl_event_close(event);
	}
	return (now_ns() - start) / ARMINGS;
}

static double open_close_process(int threads)
{
	double start;

	start_sleepers(threads - 1);
	start = now_ns();
	for (int i = 0; i < 5; i++)
		tl_event_close(open_watch(TL_WRITE));
	return (now_ns() - start) / 5;
}

static void arming(void)
{
	static const int counts[] = {1, 16, 128, 1000};

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		printf("{\"what\":\"arming\",\"threads\":%d,\"enable_disable\":%.0f,"
		       "\"move\":%.0f,\"open_close_one\":%.0f,\"open_close_process\":%.0f}\n",
		       counts[i], in_child(enable_disable, counts[i]),
		       in_child(move_disabled, counts[i]), in_child(open_close_one, counts[i]),
		       in_child(open_close_process, counts[i]));
}

/* ---- under gdb -------------------------------------------------------------------------- */

/* For bench/engine.py: N writes, timed by the program itself, whoever watches. */
static void plain(int count)
{
	printf("{\"what\":\"plain\",\"write\":%.0f}\n", write_watched(count));
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[1], "plain"))
		plain(atoi(argv[2]));
	else if (argc == 2 && !strcmp(argv[1], "arming"))
		arming();
	else if (argc == 2 && !strcmp(argv[1], "hits"))
		hits();
	else
		return fprintf(stderr, "usage: engine hits | arming | plain COUNT\n"), 2;
	return 0;
}
