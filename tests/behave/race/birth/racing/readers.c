/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads count with the lock held for reading. */
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int object;

static void *look(void *unused)
{
	pthread_rwlock_rdlock(&lock);
	object++;
	pthread_rwlock_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t one, other;

	pthread_create(&one, NULL, look, NULL);
	pthread_create(&other, NULL, look, NULL);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	return object == 0;
}
