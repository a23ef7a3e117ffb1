/* SPDX-License-Identifier: Apache-2.0 */
/* One thread takes the lock, the other does not. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int object;

static void *careful(void *unused)
{
	pthread_mutex_lock(&mutex);
	object++;
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *careless(void *unused)
{
	object++;
	return unused;
}

int main(void)
{
	pthread_t one, other;

	pthread_create(&one, NULL, careful, NULL);
	pthread_create(&other, NULL, careless, NULL);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	return object == 0;
}
