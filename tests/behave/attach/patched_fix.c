/* SPDX-License-Identifier: Apache-2.0 */
/* New functions for patched.c: with memory, tables and calls that are to be bound. BROKEN is what a
 * fix cannot have. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))

extern int exported; /* of the program, which exports it */

static unsigned long calls[1024];		   /* zeros, of more than a page */
static const char *const words[] = {"one", "two"}; /* relocations to itself */
int own = 1;

static int add(int x)
{
	return x + 1000;
}

#ifndef BROKEN_ORIGINAL
static int (*volatile adding)(int) = add;
#else /* which it is no more, but for counted() */
VISIBLE int (*original_value)(int);
VISIBLE int (*original_second)(int);
VISIBLE int (*original_placed)(void);
VISIBLE int (*original_counted)(void);

VISIBLE int placed(void)
{
	return original_placed() + 1000;
}
#endif

VISIBLE int value(int x)
{
	__atomic_fetch_add(&calls[x & 1023], 1, __ATOMIC_RELAXED);
#ifdef BROKEN_ORIGINAL
	return original_value(x) + 1000;
#else
	return adding(x) + own;
#endif
}

VISIBLE int new_second(int x)
{
	return add(x) + 2;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;

/* strlen() is an IFUNC, pthread_cond_broadcast() has two versions, stdout is the program's copy. */
VISIBLE int new_text(char *to, size_t size, const char *from)
{
	int length;

	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&some);
	pthread_mutex_unlock(&lock);
	close(-1);
	length = snprintf(to, size, "new %s %s %zu %d %d %d", from, words[strlen(from) & 1],
			  strlen(from), exported, errno == EBADF, fileno(stdout));
	return length;
}

#ifdef BROKEN_TLS
static __thread int counter;
VISIBLE int broken(int x)
{
	return x + counter++;
}
#endif
#ifdef BROKEN_CONSTRUCTOR
__attribute__((constructor)) static void construct(void)
{
	own = 3;
}
#endif
#ifdef BROKEN_SYMBOL
int nobody_has_this(int x);
VISIBLE int broken(int x)
{
	return nobody_has_this(x);
}
#endif
#ifdef BROKEN_IFUNC
static int chosen_now(int x)
{
	return x;
}
__attribute__((used)) static int (*choose(void))(int)
{
	return chosen_now;
}
static int chosen(int x) __attribute__((ifunc("choose")));
VISIBLE int broken(int x)
{
	return chosen(x);
}
#endif
