/* SPDX-License-Identifier: Apache-2.0 */
/* Processes share memory under a robust, process-shared mutex. */
#include "../harness.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct shared {
	pthread_mutex_t lock;
	long count;
	char text[64];
};

static struct shared *shared;

static void *work_on_it(void *arg)
{
	(void)arg;
	while (running()) {
		if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD)
			pthread_mutex_consistent(&shared->lock);
		shared->count++;
		memset(shared->text, (int)shared->count, sizeof(shared->text));
		pthread_mutex_unlock(&shared->lock);
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	pid_t child;
	int status = 1;

	harness_init(argc, argv, 4);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 2;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->lock, &attr);
	child = fork();
	if (child < 0)
		return 2;
	harness_start(work_on_it, harness_threads / 2);
	harness_finish();
	if (child == 0)
		_exit(0);
	waitpid(child, &status, 0);
	return status != 0;
}
