/* SPDX-License-Identifier: Apache-2.0 */
/* A text is copied while it is copied to, by a function that there are variants of, by CPU. */
#include <pthread.h>
#include <string.h>

char object[64] = "nobody";

static void *name(void *to)
{
	strcpy(object, to);
	return NULL;
}

static void *ask(void *to)
{
	strcpy(to, object);
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
