/* SPDX-License-Identifier: Apache-2.0 */
/* A text is copied and copied to under a lock. */
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
char object[64] = "nobody";

static void *name(void *to)
{
	pthread_mutex_lock(&mutex);
	strcpy(object, to);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *ask(void *to)
{
	pthread_mutex_lock(&mutex);
	strcpy(to, object);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(void)
{
	char somebody[] = "somebody else", copy[64];
	pthread_t one, other;

	pthread_create(&one, NULL, name, somebody);
	pthread_create(&other, NULL, ask, copy);
	pthread_join(one, NULL);
	return pthread_join(other, NULL);
}
