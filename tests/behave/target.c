/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event layer on another process: its threads trip, its own handler runs. Done as an
 * unprivileged user when started as root.
 */
#include "check.h"

#include "event/coverage.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>

#define THREADS 20

struct shared {
	sem_t ready, go, done;
	long hits;
	long wrong;
	volatile long round;
};

static struct shared *shared;
static volatile long watched[2];
static sem_t thread_go, thread_done;

static void handler(int signal, siginfo_t *info, void *context)
{
	uint64_t data;

	(void)signal;
	(void)context;
	memcpy(&data, (char *)info + 24, sizeof(data));
	if (data >> 32 != 0x1234)
		__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->hits, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	for (;;) {
		sem_wait(&thread_go);
		watched[0] = 1;
		watched[1] = 1;
		sem_post(&thread_done);
	}
	return arg;
}

static void child_main(void)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGTRAP, &action, NULL);
	sem_init(&thread_go, 0, 0);
	sem_init(&thread_done, 0, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, NULL);
	for (;;) {
		sem_post(&shared->ready);
		sem_wait(&shared->go);
		pthread_create(&thread, NULL, work, NULL);
		for (int i = 0; i < THREADS + 1; i++)
			sem_post(&thread_go);
		for (int i = 0; i < THREADS + 1; i++)
			sem_wait(&thread_done);
		sem_post(&shared->done);
	}
}

static long run_round(void)
{
	long before = shared->hits;

	sem_wait(&shared->ready);
	sem_post(&shared->go);
	sem_wait(&shared->done);
	return shared->hits - before;
}

static uint64_t data_of(void *context, unsigned root)
{
	return (uint64_t) * (int *)context << 32 | root;
}

int main(void)
{
	struct perf_request request = {.addr = (uintptr_t)&watched[0],
				       .length = 8,
				       .access = TL_WRITE,
				       .signal = true,
				       .disabled = true};
	struct coverage_target target = {.scope = TL_PROCESS};
	struct coverage coverage;
	int magic = 0x1234;

	check_hardware();
	if (!getuid())
		CHECK_OK(setresgid(65534, 65534, 65534) | setresuid(65534, 65534, 65534));
	prctl(PR_SET_DUMPABLE, 1);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	sem_init(&shared->ready, 1, 0);
	sem_init(&shared->go, 1, 0);
	sem_init(&shared->done, 1, 0);
	target.pid = fork();
	if (!target.pid)
		child_main();
	CHECK_EQUAL(run_round(), 0);
	sem_wait(&shared->ready);
	sem_post(&shared->ready);
	CHECK_OK(coverage_open(&coverage, &target, &request, data_of, &magic));
	CHECK_EQUAL(run_round(), 0);
	CHECK_OK(coverage_enable(&coverage, &target));
	CHECK_EQUAL(run_round(), THREADS + 1);
	/* Move to the other word, and shrink: still once for each thread. */
	CHECK_OK(coverage_disable(&coverage, &target));
	request.addr = (uintptr_t)&watched[1];
	request.length = 4;
	request.disabled = true;
	CHECK_OK(coverage_modify(&coverage, &target, &request, data_of, &magic));
	CHECK_EQUAL(run_round(), 0);
	CHECK_OK(coverage_enable(&coverage, &target));
	CHECK_EQUAL(run_round(), THREADS + 1);
	coverage_close(&coverage);
	CHECK_EQUAL(run_round(), 0);
	CHECK_EQUAL(shared->wrong, 0);
	kill(target.pid, SIGKILL);
	return 0;
}
