/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads, one created after the other, count in one block of the heap. */
#include <pthread.h>
#include <stdlib.h>

struct account {
	long id;
	long object;
};

static void *deposit(void *argument)
{
	struct account *account = argument;

	account->object += 5;
	return NULL;
}

static void *withdraw(void *argument)
{
	struct account *account = argument;

	account->object -= 3;
	return NULL;
}

int main(void)
{
	struct account *account = calloc(1, sizeof(*account));
	pthread_t one, other;

	pthread_create(&one, NULL, deposit, account);
	pthread_create(&other, NULL, withdraw, account);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	free(account);
	return 0;
}
