/* SPDX-License-Identifier: Apache-2.0 */
/* Three threads come to one of two tables' counts by functions that they call. */
#include <pthread.h>
#include <stddef.h>

struct table {
	char name[32];
	int object;
};

static struct table tables[2];

__attribute__((noinline)) static void count(struct table *table)
{
	table->object++;
}

__attribute__((noinline)) static void insert(struct table *table, int value)
{
	if (value)
		count(table);
}

static void *fill(void *table)
{
	insert(table, 1);
	return NULL;
}

__attribute__((noinline)) static pthread_t start(struct table *table)
{
	pthread_t thread = 0;

	pthread_create(&thread, NULL, fill, table);
	return thread;
}

int main(void)
{
	pthread_t one = start(&tables[0]), other = start(&tables[1]), third = start(&tables[0]);

	pthread_join(one, NULL);
	pthread_join(other, NULL);
	return pthread_join(third, NULL);
}
