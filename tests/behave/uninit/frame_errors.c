/* SPDX-License-Identifier: Apache-2.0 */
/* Each case reads bytes of a frame that nobody has written, and lets something depend on them. */
#include "cases.h"

#include <alloca.h>
#include <pthread.h>

/* What was on the stack before is no zeroes. */
static NOINLINE void dirty_stack(void)
{
	char bytes[2048], *at = bytes;

	memset(at, 0x35, sizeof(bytes));
	HIDE(at);
}

static NOINLINE void set_if(int *to, int condition)
{
	if (condition)
		*to = 1;
}

static NOINLINE void frame_scalar(void)
{
	int value, *at = &value;

	HIDE(at);
	if (*at > 3)
		touch();
}

/* The function fails, and its result is looked at all the same. */
static NOINLINE void frame_not_set_by_callee(void)
{
	int value;

	set_if(&value, sink == 77);
	if (value > 5)
		touch();
}

struct options {
	int level;
	short width;
	char name[12];
	int *list;
};

static NOINLINE void frame_member(void)
{
	struct options options, *at = &options;

	HIDE(at);
	at->level = 1;
	at->list = NULL;
	strcpy(at->name, "a");
	HIDE(at);
	if (at->width < 80)
		touch();
}

static NOINLINE void frame_array_half(void)
{
	long numbers[12], *at = numbers, sum = 0;

	HIDE(at);
	for (int i = 0; i < 6; i++)
		at[i] = i;
	HIDE(at);
	for (int i = 0; i < 12; i++)
		sum += at[i];
	if (sum > 100)
		touch();
}

static NOINLINE void frame_index(void)
{
	static char table[256];
	unsigned char number, *at = &number;
	char *first = table;

	HIDE(at);
	HIDE(first);
	sink += first[*at];
}

static NOINLINE void frame_string(void)
{
	char text[40], *at = text;

	HIDE(at);
	sink += (long)strlen(at) < 20;
}

static NOINLINE void frame_appended(void)
{
	char text[64], *at = text;

	HIDE(at);
	at[60] = 0;
	for (char *end = at;; end++)
		if (!*end)
			break;
	sink += at[60];
}

/* The lowest of a frame that is larger than what lies below a stack pointer. */
static NOINLINE void frame_appended_low(void)
{
	char text[600], *at = text;

	HIDE(at);
	at[500] = 0;
	strcat(at, "abc");
	HIDE(at);
	sink += at[0];
}

static NOINLINE long level_of(const struct options *options)
{
	if (options->level > 2)
		touch();
	return options->width;
}

static NOINLINE void frame_handed_down(void)
{
	struct options options;

	options.width = 3;
	sink += level_of(&options);
}

static NOINLINE void frame_alloca(void)
{
	int *numbers = alloca((size_t)(sink & 1 ? 64 : 80));

	HIDE(numbers);
	numbers[0] = 1;
	HIDE(numbers);
	if (numbers[3] == 9)
		touch();
}

/* The first call's value still stands there at the second one's. */
static NOINLINE long frame_kept(int first)
{
	long value, *at = &value;

	HIDE(at);
	if (first)
		*at = 40;
	HIDE(at);
	return *at - 20;
}

static NOINLINE void frame_from_last_call(void)
{
	if (frame_kept(1))
		touch();
	if (frame_kept(0))
		touch();
}

static NOINLINE void frame_switch(void)
{
	int kind, *at = &kind;

	HIDE(at);
	switch (*at) {
	case 1:
		sink += 4;
		break;
	case 2:
		touch();
		break;
	case 3:
		sink -= 3;
		break;
	case 4:
		sink ^= 8;
		break;
	case 5:
		sink |= 8;
		break;
	default:
		sink++;
	}
}

static void *in_thread(void *unused)
{
	dirty_stack();
	frame_scalar();
	return unused;
}

static NOINLINE void frame_of_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL))
		exit(3);
}

static NOINLINE void print_line(void)
{
	puts("line");
}

/* The first line makes blocks of the C library's, and each is a function that is entered. */
static NOINLINE void frame_behind_first_print(void)
{
	int numbers[10], *at = numbers;

	HIDE(at);
	for (int i = 0; i < 5; i++)
		at[i] = i;
	for (int i = 0; i < 10; i++) {
		print_line();
		if (at[i] > 3)
			touch();
	}
}

static const struct row rows[] = {{"frame_scalar", frame_scalar},
				  {"frame_not_set_by_callee", frame_not_set_by_callee},
				  {"frame_member", frame_member},
				  {"frame_array_half", frame_array_half},
				  {"frame_index", frame_index},
				  {"frame_string", frame_string},
				  {"frame_appended", frame_appended},
				  {"frame_handed_down", frame_handed_down},
				  {"frame_alloca", frame_alloca},
				  {"frame_from_last_call", frame_from_last_call},
				  {"frame_switch", frame_switch},
				  {"frame_of_thread", frame_of_thread},
				  {"frame_appended_low", frame_appended_low},
				  {"frame_behind_first_print", frame_behind_first_print}};

int main(int argc, char **argv)
{
	dirty_stack();
	return run_case(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
