/* SPDX-License-Identifier: Apache-2.0 */
/* Children that have the process id of their parent, each in a namespace of its own, made by number
 * while other threads allocate: they limit their memory and must not wait for anybody's lock. */
#include "hostile.h"

#include <sched.h>

#define THREADS 3
#define CHILDREN 60
#define BLOCKS 64

static int over;

static void *churn(void *argument)
{
	char *block[BLOCKS];

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		for (int i = 0; i < BLOCKS; i++) {
			block[i] = malloc(200 + 100 * (size_t)i);
			expect(block[i]);
			memset(block[i], 1, 8);
		}
		for (int i = 0; i < BLOCKS; i++)
			free(block[i]);
	}
	return argument;
}

static void limit_itself(void)
{
	const struct rlimit limit = {1l << 40, 1l << 40};

	alarm(2);
	setrlimit(RLIMIT_AS, &limit);
	syscall(SYS_exit, 0);
}

static void be_first(void)
{
	pthread_t threads[THREADS];
	int status, ended = 0;

	for (int i = 0; i < THREADS; i++)
		expect(pthread_create(&threads[i], NULL, churn, NULL) == 0);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);

		if (child == 0)
			limit_itself();
		expect(child > 0 && waitpid(child, &status, 0) == child);
		ended += WIFEXITED(status) && WEXITSTATUS(status) == 0;
		nap(3000);
	}
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		expect(pthread_join(threads[i], NULL) == 0);
	say("%d ended", ended);
	exit(0);
}

int main(void)
{
	pid_t child;

	noise_start();
	nap(600000);
	if (unshare(CLONE_NEWPID))
		return SKIP;
	child = fork();
	if (child == 0)
		be_first();
	say_end("first", child);
	noise_stop();
	return 0;
}
