/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a caller is delayed when a function that N threads call is replaced: by the library's
 * jump, by its breakpoint, and by a patcher that stops all threads with ptrace(2), as live patchers
 * do; and without any patching. usage: patch ROUNDS      Prints one JSON object a line.
 *
 * Each thread calls the function 20 times, then sleeps a millisecond. Its delay is what that took
 * longer than a millisecond, of which the machine's own share is seen without patching.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <trapline/trapline.h>
#include <unistd.h>

#define MAX_THREADS 256
#define CALLS 20
#define PAUSE_NS 1000000
#define SETTLE_US 3000	  /* after an operation, for delays to end in */
#define OBSERVED_US 10000 /* at least, in every way: the longest delay grows with the time */
#define JUMP 5

enum way { NONE, JUMPS, BREAKPOINT, STOP_ALL, WAYS };
static const char *const way_names[WAYS] = {"none", "jump", "breakpoint", "ptrace"};

/* Nothing is known of it where it is called. */
#ifdef __clang__
#define CALLED __attribute__((noinline, optnone, used))
#else
#define CALLED __attribute__((noipa, used))
#endif

static volatile bool ending;
static pthread_t threads[MAX_THREADS];
static uint64_t longest[MAX_THREADS];
static unsigned ready;
static int patcher; /* socket to the process that patches by ptrace */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

CALLED static int old_function(int x)
{
	return x * 3 + 1;
}

CALLED static int new_function(int x)
{
	return x * 5 + 2;
}

static void *call(void *arg)
{
	uint64_t *mine = arg;

	prctl(PR_SET_TIMERSLACK, 1);
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	while (!ending) {
		struct timespec pause = {0, PAUSE_NS};
		uint64_t began = now(), taken;

		for (int i = 0; i < CALLS; i++)
			if (old_function(i) != i * 3 + 1 && old_function(i) != i * 5 + 2)
				old_function(0);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		taken = now() - began - PAUSE_NS;
		if (taken > __atomic_load_n(mine, __ATOMIC_RELAXED))
			__atomic_store_n(mine, taken, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* ---- the patcher that stops all threads ------------------------------------------------- */

struct order {
	pid_t pid;
	uintptr_t at;
	uint8_t bytes[JUMP];
};

struct stopped {
	pid_t tids[MAX_THREADS + 8];
	unsigned count;
};

static bool is_stopped(const struct stopped *stopped, pid_t tid)
{
	for (unsigned i = 0; i < stopped->count; i++)
		if (stopped->tids[i] == tid)
			return true;
	return false;
}

/* Until a listing shows no thread that is not stopped. */
static bool stop_some(pid_t pid, struct stopped *stopped)
{
	char path[64];
	bool any = false;
	struct dirent *entry;
	DIR *tasks;
	int status;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0 || is_stopped(stopped, tid) || ptrace(PTRACE_SEIZE, tid, NULL, NULL) ||
		    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
		    waitpid(tid, &status, __WALL) != tid)
			continue;
		stopped->tids[stopped->count++] = tid;
		any = true;
	}
	if (tasks)
		closedir(tasks);
	return any;
}

static bool is_any_inside(const struct stopped *stopped, uintptr_t at)
{
	for (unsigned i = 0; i < stopped->count; i++) {
		struct user_regs_struct registers;

		if (ptrace(PTRACE_GETREGS, stopped->tids[i], NULL, &registers) == 0 &&
		    registers.rip > at && registers.rip < at + JUMP)
			return true;
	}
	return false;
}

static bool patch_stopped(const struct order *order, int memory)
{
	struct stopped stopped = {.count = 0};
	bool done;

	while (stop_some(order->pid, &stopped))
		;
	done = !is_any_inside(&stopped, order->at) &&
	       pwrite(memory, order->bytes, JUMP, (off_t)order->at) == JUMP;
	for (unsigned i = 0; i < stopped.count; i++)
		ptrace(PTRACE_DETACH, stopped.tids[i], NULL, NULL);
	return done;
}

static void run_patcher(int socket)
{
	struct order order;
	char path[64];
	int memory = -1;

	while (recv(socket, &order, sizeof(order), 0) == sizeof(order)) {
		snprintf(path, sizeof(path), "/proc/%d/mem", order.pid);
		if (memory < 0)
			memory = open(path, O_RDWR | O_CLOEXEC);
		while (!patch_stopped(&order, memory))
			;
		if (send(socket, "", 1, 0) != 1)
			break;
	}
	_exit(0);
}

static void start_patcher(void)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
		abort();
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		run_patcher(ends[1]);
	}
	close(ends[1]);
	prctl(PR_SET_PTRACER, pid);
	patcher = ends[0];
}

static void order_bytes(const uint8_t bytes[JUMP])
{
	struct order order = {.pid = getpid(), .at = (uintptr_t)old_function};
	char done;

	memcpy(order.bytes, bytes, JUMP);
	if (send(patcher, &order, sizeof(order), 0) != sizeof(order) ||
	    recv(patcher, &done, 1, 0) != 1)
		abort();
}

/* ---- operations ------------------------------------------------------------------------- */

static tl_patch *patch;
static uint8_t original[JUMP];

static void apply(enum way way)
{
	uint8_t jump[JUMP] = {0xe9};
	int32_t distance = (int32_t)((uintptr_t)new_function - (uintptr_t)old_function - JUMP);

	if (way == STOP_ALL) {
		memcpy(original, (void *)old_function, JUMP);
		memcpy(jump + 1, &distance, sizeof(distance));
		order_bytes(jump);
	} else if (way != NONE && tl_patch_apply(&patch, (void *)old_function, (void *)new_function,
						 way == BREAKPOINT ? TL_PATCH_BREAKPOINT : 0)) {
		abort();
	}
}

static void revert(enum way way)
{
	if (way == STOP_ALL)
		order_bytes(original);
	else if (way != NONE && tl_patch_revert(patch))
		abort();
}

/* ---- measuring -------------------------------------------------------------------------- */

static void forget_delays(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		__atomic_store_n(&longest[i], 0, __ATOMIC_RELAXED);
}

static uint64_t longest_delay(unsigned count)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < count; i++) {
		uint64_t one = __atomic_load_n(&longest[i], __ATOMIC_RELAXED);

		all = one > all ? one : all;
	}
	return all;
}

struct result {
	uint64_t *delay, *time;
	size_t count;
};

static void measure(enum way way, unsigned count, void (*operate)(enum way), struct result *result)
{
	uint64_t began, taken;

	usleep(SETTLE_US);
	forget_delays(count);
	began = now();
	operate(way);
	result->time[result->count] = now() - began;
	taken = result->time[result->count] / 1000;
	usleep(taken + SETTLE_US < OBSERVED_US ? (useconds_t)(OBSERVED_US - taken) : SETTLE_US);
	result->delay[result->count++] = longest_delay(count);
}

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static void print(enum way way, unsigned count, struct result *result)
{
	qsort(result->delay, result->count, sizeof(uint64_t), compare);
	qsort(result->time, result->count, sizeof(uint64_t), compare);
	printf("{\"way\": \"%s\", \"threads\": %u, \"median\": %llu, \"p90\": %llu, \"largest\": "
	       "%llu, \"operation\": %llu}\n",
	       way_names[way], count, (unsigned long long)result->delay[result->count / 2],
	       (unsigned long long)result->delay[result->count * 9 / 10],
	       (unsigned long long)result->delay[result->count - 1],
	       (unsigned long long)result->time[result->count / 2]);
	fflush(stdout);
}

static void measure_all(unsigned count, unsigned rounds)
{
	struct result results[WAYS];

	for (int way = 0; way < WAYS; way++)
		results[way] = (struct result){calloc(2 * rounds, sizeof(uint64_t)),
					       calloc(2 * rounds, sizeof(uint64_t)), 0};
	ending = false;
	ready = 0;
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, call, &longest[i]))
			abort();
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < count)
		usleep(100);
	for (unsigned round = 0; round < rounds; round++)
		for (int way = 0; way < WAYS; way++) {
			measure(way, count, apply, &results[way]);
			measure(way, count, revert, &results[way]);
		}
	ending = true;
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (int way = 0; way < WAYS; way++) {
		print(way, count, &results[way]);
		free(results[way].delay);
		free(results[way].time);
	}
}

int main(int argc, char **argv)
{
	static const unsigned counts[] = {1, 4, 16, 64, 256};
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;

	start_patcher();
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		measure_all(counts[i], rounds);
	return 0;
}
