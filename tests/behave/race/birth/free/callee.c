/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread counts in a table of its own, by functions that it calls. */
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

int main(void)
{
	pthread_t one, other;

	pthread_create(&one, NULL, fill, &tables[0]);
	pthread_create(&other, NULL, fill, &tables[1]);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	insert(&tables[0], 2);
	return 0;
}
