/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the C library that access memory of their caller, two threads at once with a cell of
 * their own for each: without any order (`racing`), under a lock of the cell (`locked`), or each
 * thread with cells of its own (`apart`).  Usage: PROGRAM SECONDS racing|locked|apart [NAME…].
 *
 * The functions stand in calls.def. What the library keeps of its own is used by both threads in
 * every mode: a stream, the allocator, time zones.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fenv.h>
#include <iconv.h>
#include <math.h>
#include <pthread.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

struct cell {
	pthread_mutex_t lock;
	char text[64];
	wchar_t wide[32];
	int number[16];
	struct tm time;
	struct timespec spec;
	struct timeval value;
	struct drand48_data drand;
	mbstate_t state;
	sigset_t set;
	unsigned short x[3];
	unsigned seed;
	char *pointer, *heap;
	Dl_info info;
	pthread_attr_t attr;
	pthread_mutexattr_t mutexattr;
	struct sched_param sched;
	struct termios termios;
	ucontext_t context;
	fenv_t fenv;
	double real[2];
	size_t size;
} __attribute__((aligned(256)));

enum row {
#define CALL(name, call) ROW_##name,
#include "calls.def"
#undef CALL
	ROWS
};

static struct cell cells[2][ROWS];
static struct tm fixed = {.tm_mday = 1};
static sem_t semaphore;
static __thread FILE *zeroes, *lines;
static __thread iconv_t converter;
static int stop, locked, apart;
static const char **wanted;

#define consume(value) __asm__ volatile("" : : "r"(value))

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int compare_r(const void *a, const void *b, void *arg)
{
	(void)arg;
	return compare(a, b);
}

static int format(char *to, size_t size, const char *text, ...)
{
	va_list list;
	int length;

	va_start(list, text);
	length = vsnprintf(to, size, text, list);
	va_end(list);
	return length;
}

static size_t convert(char *to, size_t size)
{
	char from[] = "converted text", *in = from;
	size_t left = sizeof(from);

	return iconv(converter, &in, &left, &to, &size);
}

static ssize_t next_line(char **line, size_t *size)
{
	rewind(lines);
	return getdelim(line, size, '\n', lines);
}

static void before(struct cell *c)
{
	if (locked)
		pthread_mutex_lock(&c->lock);
}

static void after(struct cell *c)
{
	if (locked)
		pthread_mutex_unlock(&c->lock);
}

#define CALL(name, call)                                                                 \
	static __attribute__((noinline)) void call_##name(struct cell *c, unsigned turn) \
	{                                                                                \
		(void)turn;                                                              \
		before(c);                                                               \
		__asm__ volatile("" : : "r"((call, 0)) : "memory");                      \
		after(c);                                                                \
	}
#include "calls.def"
#undef CALL

struct row_of {
	const char *name;
	void (*call)(struct cell *c, unsigned turn);
};

static const struct row_of rows[ROWS] = {
#define CALL(name, call) {#name, call_##name},
#include "calls.def"
#undef CALL
};

static int is_wanted(const char *name)
{
	for (const char **one = wanted; *one; one++)
		if (strcmp(*one, name) == 0)
			return 1;
	return !*wanted;
}

/* The library's own, and none of the program's. */
static void use_the_library(FILE *shared, unsigned turn)
{
	char *block = malloc(16 + turn % 512);

	fprintf(shared, "%u\n", turn);
	fputs("text", shared);
	putc('.', shared);
	consume(rand());
	consume(getenv("PATH"));
	consume(time(NULL));
	free(block);
}

static FILE *shared;

static void *run(void *argument)
{
	static const char text[] = "line\nline\nline\n";

	zeroes = fopen("/dev/zero", "r");
	lines = fmemopen((char *)text, sizeof(text) - 1, "r");
	converter = iconv_open("UTF-16LE", "UTF-8");
	for (unsigned turn = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); turn++) {
		for (unsigned i = 0; i < ROWS; i++) {
			if (is_wanted(rows[i].name)) {
				rewind(lines);
				rows[i].call(&cells[apart && argument][i], turn);
			}
		}
		if (turn % 64 == 0)
			use_the_library(shared, turn);
	}
	fclose(zeroes);
	fclose(lines);
	iconv_close(converter);
	return NULL;
}

int main(int argc, char **argv)
{
	struct timespec pause = {atoi(argv[1]), 0};
	pthread_t threads[2];

	locked = strcmp(argv[2], "locked") == 0;
	apart = strcmp(argv[2], "apart") == 0;
	wanted = (const char **)argv + (argc > 3 ? 3 : argc);
	shared = fopen("/dev/null", "w");
	for (unsigned i = 0; i < 2 * ROWS; i++) {
		struct cell *c = &cells[0][0] + i;

		pthread_mutex_init(&c->lock, NULL);
		c->heap = calloc(1, 64);
		for (int j = 0; j < 16; j++)
			c->number[j] = 16 - j;
		c->pointer = malloc(64);
		c->size = 64;
	}
	pthread_create(&threads[0], NULL, run, NULL);
	pthread_create(&threads[1], NULL, run, argv);
	nanosleep(&pause, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
