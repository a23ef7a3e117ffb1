/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here depends on bytes of a frame that nobody wrote, though some of them are loaded. */
#include "cases.h"

#include <alloca.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

struct padded {
	char kind;
	long number;
	short last;
};

/* The kernel writes the same each time, over what it wrote there before. */
static NOINLINE void written_by_fstat(void)
{
	struct stat status;

	if (fstat(0, &status))
		return;
	if (status.st_mode & S_IFREG)
		touch();
	if (status.st_size > 10)
		touch();
}

static NOINLINE void frame_fstat(void)
{
	for (int i = 0; i < 20; i++)
		written_by_fstat();
}

static NOINLINE void frame_read(void)
{
	char bytes[32];
	int zero = open("/dev/zero", O_RDONLY);

	if (zero < 0 || read(zero, bytes, sizeof(bytes)) != sizeof(bytes))
		exit(3);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		if (bytes[i])
			touch();
	close(zero);
}

/* The kernel reads the whole structure, and writes what was not set. */
static NOINLINE void frame_poll(void)
{
	struct pollfd wanted;
	int pipes[2];

	if (pipe(pipes))
		exit(3);
	wanted.fd = pipes[0];
	wanted.events = POLLIN;
	if (poll(&wanted, 1, 0) < 0)
		exit(3);
	if (wanted.revents & POLLIN)
		touch();
	close(pipes[0]);
	close(pipes[1]);
}

static NOINLINE void set(long *to)
{
	*to = 9;
}

static NOINLINE void frame_set_by_callee(void)
{
	long value;

	set(&value);
	if (value > 3)
		touch();
}

static NOINLINE void frame_padding_copied(void)
{
	struct padded from, to, *at = &from;

	HIDE(at);
	at->kind = 1;
	at->number = 2;
	at->last = 3;
	HIDE(at);
	to = *at;
	at = &to;
	HIDE(at);
	if (at->kind + at->number + at->last > 3)
		touch();
}

struct bits {
	unsigned low : 3, middle : 9, high : 20;
};

/* The neighbours of a bit-field are loaded with it. */
static NOINLINE void frame_bit_field(void)
{
	struct bits bits, *at = &bits;

	HIDE(at);
	at->middle = 77;
	HIDE(at);
	if (at->middle == 77)
		touch();
}

static NOINLINE void frame_short_string(void)
{
	char text[200], *at = text;

	HIDE(at);
	strcpy(at, "short");
	HIDE(at);
	if (strlen(at) == 5 && strchr(at, 'r') && strcmp(at, "shore") > 0)
		touch();
}

static NOINLINE void frame_printed(void)
{
	char text[100];

	snprintf(text, sizeof(text), "%d-%s", 12, "x");
	if (text[3] == 'x' && strlen(text) == 4)
		touch();
}

static NOINLINE void frame_used_part(void)
{
	int numbers[64], *at = numbers, sum = 0;

	HIDE(at);
	for (int i = 0; i < 10; i++)
		at[i] = i;
	HIDE(at);
	for (int i = 0; i < 10; i++)
		sum += at[i];
	if (sum > 3)
		touch();
}

static NOINLINE void frame_alloca_filled(void)
{
	long count = sink & 1 ? 7 : 9, *numbers = alloca((size_t)count * sizeof(*numbers));

	HIDE(numbers);
	for (long i = 0; i < count; i++)
		numbers[i] = i;
	HIDE(numbers);
	if (numbers[count - 1] > 3)
		touch();
}

static NOINLINE bool find(int wanted, int *at)
{
	static const int table[] = {1, 2, 3, 4};

	for (int i = 0; i < 4; i++)
		if (table[i] == wanted) {
			*at = i;
			return true;
		}
	return false;
}

/* What was not set is not asked for. */
static NOINLINE void frame_asked_first(void)
{
	int at;

	if (find(9, &at) && at == 3)
		touch();
	if (find(3, &at) && at == 2)
		touch();
}

static NOINLINE void frame_masked(void)
{
	unsigned value, *at = &value;

	HIDE(at);
	if (((*at & 0xff00u) | 3u) & 0xffu & 2u)
		touch();
}

static NOINLINE void frame_swapped_out(void)
{
	long kept, *at = &kept;
	jmp_buf back;

	HIDE(at);
	if (!setjmp(back)) {
		*at = 5;
		longjmp(back, 1);
	}
	if (*at == 5)
		touch();
}

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	long local = number, *at = &local;

	HIDE(at);
	signalled = *at > 2;
}

static NOINLINE void frame_of_handler(void)
{
	struct sigaction action = {.sa_handler = on_signal}, old;

	for (int i = 0; i < 5; i++) {
		sigaction(SIGUSR1, &action, &old);
		raise(SIGUSR1);
		if (old.sa_handler != on_signal && i)
			touch();
	}
}

static ucontext_t outer, inner;

static NOINLINE void in_context(void)
{
	long local[4], *at = local;

	HIDE(at);
	at[2] = 3;
	swapcontext(&inner, &outer);
	if (at[2] == 3)
		touch();
}

static NOINLINE void frame_of_coroutine(void)
{
	static char stack[65536];

	getcontext(&inner);
	inner.uc_stack.ss_sp = stack;
	inner.uc_stack.ss_size = sizeof(stack);
	inner.uc_link = &outer;
	makecontext(&inner, in_context, 0);
	swapcontext(&outer, &inner);
	swapcontext(&outer, &inner);
}

static void *fill(void *to)
{
	*(long *)to = 12;
	return (void *)3;
}

static NOINLINE void frame_filled_by_thread(void)
{
	pthread_t thread;
	void *result;
	long value;

	if (pthread_create(&thread, NULL, fill, &value) || pthread_join(thread, &result))
		exit(3);
	if (value == 12 && result == (void *)3)
		touch();
}

static NOINLINE void frame_of_time(void)
{
	struct timespec now;
	struct tm parts;
	time_t seconds;

	clock_gettime(CLOCK_MONOTONIC, &now);
	time(&seconds);
	localtime_r(&seconds, &parts);
	if (now.tv_sec > 3 && parts.tm_year > 100)
		touch();
}

static NOINLINE void frame_scanned(void)
{
	int first, second;
	char word[20];

	if (sscanf("4 x 6", "%d %19s %d", &first, word, &second) == 3 && first < second &&
	    word[0] == 'x')
		touch();
}

static NOINLINE long recurse(int depth)
{
	long here[3], *at = here;

	HIDE(at);
	at[0] = depth;
	at[2] = depth ? recurse(depth - 1) : 1;
	return at[2] > 0 ? at[0] + at[2] : 0;
}

static NOINLINE void frame_recursion(void)
{
	sink += recurse(20);
}

static const struct row rows[] = {{"frame_fstat", frame_fstat},
				  {"frame_read", frame_read},
				  {"frame_poll", frame_poll},
				  {"frame_set_by_callee", frame_set_by_callee},
				  {"frame_padding_copied", frame_padding_copied},
				  {"frame_bit_field", frame_bit_field},
				  {"frame_short_string", frame_short_string},
				  {"frame_printed", frame_printed},
				  {"frame_used_part", frame_used_part},
				  {"frame_alloca_filled", frame_alloca_filled},
				  {"frame_asked_first", frame_asked_first},
				  {"frame_masked", frame_masked},
				  {"frame_swapped_out", frame_swapped_out},
				  {"frame_of_handler", frame_of_handler},
				  {"frame_of_coroutine", frame_of_coroutine},
				  {"frame_filled_by_thread", frame_filled_by_thread},
				  {"frame_of_time", frame_of_time},
				  {"frame_scanned", frame_scanned},
				  {"frame_recursion", frame_recursion}};

RUN_CASES(rows)
