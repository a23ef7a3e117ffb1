/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wild write: `neighbour ROUNDS` books ROUNDS deposits on an account, and once, in between, is
 * told a name that is one letter too long for its field. The name's last byte lands in the balance.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LENGTH 8

struct account {
	char name[NAME_LENGTH];
	long balance;
};

static struct account account;

static __attribute__((noinline)) void deposit(long amount)
{
	account.balance += amount; /* the right write */
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void rename_account(const char *name, size_t length)
{
	char *to = account.name;

	for (size_t i = 0; i <= length; i++) {
		to[i] = name[i]; /* the wild write */
		__asm__ volatile("" ::: "memory");
	}
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;

	for (long i = 0; i < rounds; i++) {
		if (i == rounds / 2)
			rename_account("Johannes", strlen("Johannes"));
		deposit(100);
	}
	printf("%s: %ld\n", account.name, account.balance);
	return account.balance == 100 * rounds ? 0 : 1;
}
