/* SPDX-License-Identifier: Apache-2.0 */
/* What one reads behind the barrier the other has written before it. */
#include <pthread.h>
#include <stddef.h>

static pthread_barrier_t barrier;
static int part[2];
static int sum[2];

static void *count(void *argument)
{
	int *mine = argument;

	*mine = (int)(mine - part) + 1;
	pthread_barrier_wait(&barrier);
	sum[mine - part] = part[mine == part];
	return NULL;
}

int main(void)
{
	pthread_t one, other;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&one, NULL, count, &part[0]);
	pthread_create(&other, NULL, count, &part[1]);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	return sum[0] == 0;
}
