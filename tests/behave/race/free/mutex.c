/* SPDX-License-Identifier: Apache-2.0 */
/* A bank under one mutex per account, locked in order. */
#include "../harness.h"

#define ACCOUNTS 4

static struct {
	pthread_mutex_t lock;
	long balance;
} accounts[ACCOUNTS];

static void transfer(unsigned from, unsigned to, long amount)
{
	unsigned first = from < to ? from : to;
	unsigned second = from < to ? to : from;

	pthread_mutex_lock(&accounts[first].lock);
	pthread_mutex_lock(&accounts[second].lock);
	accounts[from].balance -= amount;
	accounts[to].balance += amount;
	pthread_mutex_unlock(&accounts[second].lock);
	pthread_mutex_unlock(&accounts[first].lock);
}

static void *teller(void *arg)
{
	unsigned turn = (unsigned)(uintptr_t)arg;

	while (running()) {
		transfer(turn % ACCOUNTS, (turn + 1) % ACCOUNTS, 10);
		turn++;
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long sum = 0;

	harness_init(argc, argv, 4);
	for (int i = 0; i < ACCOUNTS; i++)
		pthread_mutex_init(&accounts[i].lock, NULL);
	harness_start(teller, harness_threads);
	harness_finish();
	for (int i = 0; i < ACCOUNTS; i++)
		sum += accounts[i].balance;
	return sum != 0;
}
