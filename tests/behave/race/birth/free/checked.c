/* SPDX-License-Identifier: Apache-2.0 */
/* What is made at its first use is looked for without the lock, by atomic operations. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int *object;

static int *get(void)
{
	if (!__atomic_load_n(&object, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&mutex);
		if (!object) {
			int *made = calloc(1, sizeof(*made));

			__atomic_store_n(&object, made, __ATOMIC_RELEASE);
		}
		pthread_mutex_unlock(&mutex);
	}
	return __atomic_load_n(&object, __ATOMIC_ACQUIRE);
}

static void *use(void *argument)
{
	*(int *)argument = *get();
	return NULL;
}

int main(void)
{
	pthread_t thread[4];
	int value[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, use, &value[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	free(object);
	return value[0];
}
