/* SPDX-License-Identifier: Apache-2.0 */
/* Two parts of an array have one element in common, at the end of the one. */
#include <pthread.h>
#include <stddef.h>

struct part {
	int from, to;
};

int object[40];

static void *fill(void *argument)
{
	const struct part *part = argument;

	for (int i = part->from; i < part->to; i++)
		object[i] += i;
	return NULL;
}

int main(void)
{
	struct part part[2] = {{0, 21}, {20, 40}};
	pthread_t one, other;

	pthread_create(&one, NULL, fill, &part[0]);
	pthread_create(&other, NULL, fill, &part[1]);
	pthread_join(one, NULL);
	return pthread_join(other, NULL);
}
