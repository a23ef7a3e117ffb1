/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread's own: `local THREADS WRITES [MODULE]` writes `mine` WRITES times in the first thread
 * and in each of THREADS others, which run at the same time. With MODULE also the variable of a
 * library that is loaded when the threads already run.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

__thread volatile int mine;
__thread volatile long pair[2];
static int writes;
static pthread_barrier_t ready, loaded;
static void (*write_library)(void);

static __attribute__((noinline)) void add(void)
{
	mine = mine + 1; /* the write */
}

static void *work(void *name)
{
	prctl(PR_SET_NAME, name);
	pthread_barrier_wait(&ready);
	for (int i = 0; i < writes; i++)
		add();
	pthread_barrier_wait(&loaded);
	if (write_library)
		for (int i = 0; i < writes; i++) {
			write_library();
			usleep(100000); /* its block is made by the first */
		}
	return NULL;
}

static int work_c11(void *name)
{
	work(name);
	return 0;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t *thread = calloc((size_t)threads, sizeof(*thread));
	thrd_t last;
	void *module;

	writes = argc > 2 ? atoi(argv[2]) : 1;
	pthread_barrier_init(&ready, NULL, (unsigned)threads + 2);
	pthread_barrier_init(&loaded, NULL, (unsigned)threads + 2);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, i % 2 ? "odd" : "even");
	thrd_create(&last, work_c11, "last");
	pthread_barrier_wait(&ready);
	for (int i = 0; i < writes; i++)
		add();
	pair[1] = 5;
	module = argc > 3 ? dlopen(argv[3], RTLD_NOW) : NULL;
	if (module)
		write_library = (void (*)(void))dlsym(module, "write_late_local");
	pthread_barrier_wait(&loaded);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	thrd_join(last, NULL);
	fflush(stdout);
	if (fork() == 0) {
		add();
		_exit(0);
	}
	wait(NULL);
	return mine == writes ? 0 : 1;
}
