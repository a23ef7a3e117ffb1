/* SPDX-License-Identifier: Apache-2.0 */
/* A static program, whose C library is part of it: what threads do every day, all of it safe. */
#include "../harness.h"
#include <errno.h>
#include <locale.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spinlock;
static pthread_key_t key;
static sem_t turns;
static FILE *nowhere;
static long guarded, spun, written;
static char *handed;

static void make_key(void)
{
	pthread_key_create(&key, free);
}

static void print(int self)
{
	struct tm broken;
	time_t now = time(NULL);
	char text[100];

	localtime_r(&now, &broken);
	strftime(text, sizeof(text), "%F %T", &broken);
	fprintf(nowhere, "%d: %s %5.2f %s\n", self, text, self * 1.5, strerror(ENOENT));
	putc('.', nowhere);
	fflush(nowhere);
	snprintf(text, sizeof(text), "%ld", (long)rand() + strtol("12", NULL, 10));
	if (getenv("NOTHING_OF_THE_KIND"))
		fputs(text, nowhere);
}

static void lock_things(void)
{
	pthread_mutex_lock(&lock);
	guarded++;
	free(handed);
	handed = malloc((size_t)(guarded % 3000) + 1);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_rwlock_rdlock(&rwlock);
	consume((int)written);
	pthread_rwlock_unlock(&rwlock);
	if (pthread_rwlock_trywrlock(&rwlock) == 0) {
		written++;
		pthread_rwlock_unlock(&rwlock);
	}
	pthread_spin_lock(&spinlock);
	spun++;
	pthread_spin_unlock(&spinlock);
	sem_wait(&turns);
	sem_post(&turns);
}

static void *short_lived(void *arg)
{
	pthread_setspecific(key, malloc(30));
	return arg;
}

static void *worker(void *arg)
{
	pthread_once(&once, make_key);
	while (running()) {
		pthread_t thread;

		print((int)(intptr_t)arg);
		lock_things();
		if (pthread_create(&thread, NULL, short_lived, NULL) == 0)
			pthread_join(thread, NULL);
		pace_hot();
	}
	return NULL;
}

static void *waiter(void *arg)
{
	pthread_mutex_lock(&lock);
	while (running())
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *last(void *arg)
{
	while (running())
		nap(10000);
	nap(20000);
	pthread_cond_broadcast(&changed);
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	setlocale(LC_ALL, "");
	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	sem_init(&turns, 0, 2);
	nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		return 2;
	harness_start(worker, harness_threads);
	harness_start(waiter, 1);
	harness_start(last, 1);
	return harness_finish();
}
