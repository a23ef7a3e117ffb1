/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads, one created after the other, count by atomic operations. */
#include <pthread.h>
#include <stdlib.h>

static void *deposit(void *argument)
{
	__atomic_store_n((long *)argument, __atomic_load_n((long *)argument, __ATOMIC_RELAXED) + 5,
			 __ATOMIC_RELAXED);
	return NULL;
}

int main(void)
{
	long *account = calloc(1, sizeof(*account));
	pthread_t one, other;

	pthread_create(&one, NULL, deposit, account);
	pthread_create(&other, NULL, deposit, account);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	free(account);
	return 0;
}
