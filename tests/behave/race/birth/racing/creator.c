/* SPDX-License-Identifier: Apache-2.0 */
/* Who created a thread goes on to write what the thread writes. */
#include <pthread.h>
#include <stddef.h>

int object;

static void *begin(void *unused)
{
	object = 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, begin, NULL);
	object = 2;
	return pthread_join(thread, NULL);
}
