/* SPDX-License-Identifier: Apache-2.0 */
/* Who created a thread waits for it before it writes the same. */
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

	object = 3;
	pthread_create(&thread, NULL, begin, NULL);
	pthread_join(thread, NULL);
	object = 2;
	return 0;
}
