/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads race on a block of the heap that the program remembers, or should not.
 *
 * usage: blocks CASE SECONDS, or until standard input is closed
 *	one	the program's only block
 *	many	the last of many of the same size, made by another thread
 *	freed	given back while the threads go on with it
 *	resized	it was moved by realloc()
 *	forked	made before the fork(), raced on in the child
 *	behind	given back and made anew, larger, behind the back of whoever stands before malloc()
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 200
#define MANY 2000

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

static char *volatile blocks[MANY];
static char *shared;
static volatile bool over;

/* No function below leaves its frame to the one it calls. */
#define KEEP_FRAME __asm__ volatile("" ::: "memory")

static __attribute__((noinline)) char *make(size_t size)
{
	char *block = malloc(size); /* made */

	KEEP_FRAME;
	return block;
}

static __attribute__((noinline)) char *enlarge(char *block)
{
	block = realloc(block, 50 * SIZE); /* resized */
	KEEP_FRAME;
	return block;
}

static __attribute__((noinline)) void drop(char *block)
{
	free(block); /* dropped */
	KEEP_FRAME;
}

static void *make_many(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "maker");
	for (int i = 0; i < MANY; i++)
		blocks[i] = make(SIZE);
	shared = blocks[MANY - 1];
	return NULL;
}

/* Beside what a free block is used for itself. */
static void *count(void *unused)
{
	int *number = (int *)(shared + 64);

	(void)unused;
	while (!over)
		for (int i = 0; i < 1000; i++) {
			++*number; /* the race */
			KEEP_FRAME;
		}
	return NULL;
}

static void prepare(const char *name)
{
	pthread_t maker;

	if (strcmp(name, "many") == 0) {
		pthread_create(&maker, NULL, make_many, NULL);
		pthread_join(maker, NULL);
		return;
	}
	shared = make(SIZE);
	blocks[0] = make(SIZE); /* so that it cannot grow where it is */
	if (strcmp(name, "resized") == 0)
		shared = enlarge(shared);
	if (strcmp(name, "behind") == 0) {
		drop(make(4 * SIZE));
		shared = make(4 * SIZE);
		blocks[1] = make(SIZE);
		__libc_free(shared);
		shared = __libc_malloc(3 * SIZE);
	}
}

static void run(const char *name, int seconds)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, count, NULL);
	if (strcmp(name, "freed") == 0)
		drop(shared);
	poll(&input, 1, 1000 * seconds);
	over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	prepare(argv[1]);
	if (strcmp(argv[1], "forked") != 0) {
		run(argv[1], atoi(argv[2]));
		return 0;
	}
	if (fork() == 0) {
		prctl(PR_SET_NAME, "child");
		run(argv[1], atoi(argv[2]));
		_exit(0);
	}
	wait(NULL);
	return 0;
}
