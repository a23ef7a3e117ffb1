/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to look up symbols in. It stops itself inside a signal handler, called in an inlined
 * function of a second thread's stack. The lines marked are named by the tests.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct connection {
	int state;
	long bytes[4];
};

struct server {
	struct {
		int count;
		struct connection conns[8];
	} stat;
	struct connection *current;
	_Atomic int references;
	volatile int stopping;
};

struct server server;
static int static_counter; /* line: static_counter */
int *pointer_to_counter = &static_counter;
_Thread_local long thread_total;
atomic_int flag;

/* Symbols that are no objects: a version definition is such a number, and a label has no extent. */
__asm__(".globl a_number, a_label\n"
	".type a_number, @object\n"
	".set a_number, 0\n"
	".data\n"
	".type a_label, @object\n"
	"a_label: .zero 4096\n"
	".text");

__attribute__((noinline)) static void handler(int number)
{
	(void)number;
	thread_total++;
	raise(SIGSTOP); /* line: stop */
	__asm__ volatile("");
}

static inline __attribute__((always_inline)) int inlined_raise(int value)
{
	raise(SIGUSR1); /* line: raise */
	return value + static_counter;
}

__attribute__((noinline)) int outer(int value)
{
	int local = value * 2;
	int *volatile escape = &local;

	*escape += inlined_raise(value); /* line: inlined */
	__asm__ volatile("" ::: "memory");
	return local + 1;
}

static void *thread(void *argument)
{
	server.stat.conns[3].state = outer(static_counter); /* line: outer */
	__asm__ volatile("" ::: "memory");
	return argument;
}

int main(void)
{
	pthread_t id;

	server.current = malloc(sizeof(*server.current));
	signal(SIGUSR1, handler);
	static_counter++;
	atomic_fetch_add(&flag, 1);
	printf("%p %p %p\n", (void *)&server, (void *)server.current, (void *)&static_counter);
	fflush(stdout);
	if (pthread_create(&id, NULL, thread, NULL) == 0)
		pthread_join(id, NULL);
	return 0;
}

/* As Go names its variables. */
long dotted[2] __asm__("main.dotted");
long dotted_alone __asm__("package.dotted_alone");
