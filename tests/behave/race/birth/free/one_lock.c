/* SPDX-License-Identifier: Apache-2.0 */
/* Both threads take the lock, and so does who created them. */
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

int main(void)
{
	pthread_t one, other;

	pthread_create(&one, NULL, careful, NULL);
	pthread_create(&other, NULL, careful, NULL);
	careful(NULL);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	return object != 3;
}
