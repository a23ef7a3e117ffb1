/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes beyond an array that reach what its frame needs to return: see cases.h. Each call but the
 * last one is right; the last one comes when the time is over, and mostly ends the program.
 */
#include "cases.h"

#include <pthread.h>

struct message {
	int length;
	char text[24];
};

static char source[512];
static volatile int length; /* of what is written */

static int next_length(int right, int wrong)
{
	usleep(20000);
	return again() ? right : wrong;
}

/* ------------------------------------------------------------------------------------------- */

APART static void overrun_loop(char *to, int count)
{
	for (int i = 0; i < count; i++) {
		to[i] = source[i];
		__asm__ volatile("" : : : "memory");
	}
}

APART static void victim_loop(int count)
{
	char buffer[32];

	overrun_loop(buffer, count);
	cases_sum += (unsigned long)buffer[cases_sum % 16];
}

APART static void victim_copy(int count)
{
	char buffer[32], *to = buffer;

	HIDE(to);
	memcpy(to, source, (size_t)count);
	cases_sum += (unsigned long)buffer[cases_sum % 16];
}

APART static void victim_string(int count)
{
	char buffer[32], *to = buffer;

	source[count] = '\0';
	HIDE(to);
	strcpy(to, source);
	source[count] = 'x';
	cases_sum += (unsigned long)buffer[cases_sum % 16];
}

APART static void victim_format(int count)
{
	char buffer[40], *to = buffer;

	HIDE(to);
	sprintf(to, "%.*s", count, source);
	cases_sum += (unsigned long)buffer[cases_sum % 16];
}

APART static void overrun_words(long *to, int count)
{
	for (int i = 0; i <= count; i++) {
		to[i] = i;
		__asm__ volatile("" : : : "memory");
	}
}

APART static void victim_words(int count)
{
	long table[8];

	overrun_words(table, count);
	cases_sum += (unsigned long)table[cases_sum % 8];
}

APART static void overrun_set(char *to, int count)
{
	memset(to, 0, (size_t)count);
}

APART static void victim_set(int count)
{
	char buffer[48];

	overrun_set(buffer, count);
	cases_sum += (unsigned long)buffer[cases_sum % 16];
}

APART static void overrun_member(struct message *message, int count)
{
	message->length = count;
	for (int i = 0; i < count; i++) {
		message->text[i] = source[i];
		__asm__ volatile("" : : : "memory");
	}
}

APART static void victim_member(int count)
{
	struct message message;

	overrun_member(&message, count);
	cases_sum += (unsigned long)message.text[cases_sum % 16];
}

/* One word over: it reaches what lies next to the array, and no more. */
APART static void victim_often(int count)
{
	long table[12];

	overrun_words(table, count);
	cases_sum -= (unsigned long)table[cases_sum % 12];
}

APART static void overrun_far(long *to, long word)
{
	to[word] = 0;
}

/* An index that goes astray, and comes to the return address alone. The program ends before its
 * function does. */
APART static void victim_far(int wrong)
{
	long table[8] = {1, 2, 3};
	long *slot = (long *)__builtin_frame_address(0) + 1;

	overrun_far(table, wrong ? slot - table : 3);
	cases_sum += (unsigned long)table[cases_sum % 8];
	if (wrong)
		_exit(0);
}

/* While it is about to err another thread calls it, too. */
APART static void victim_threads(int count)
{
	long table[8];

	if (count > 8)
		usleep(10000);
	overrun_words(table, count);
	cases_sum += (unsigned long)table[cases_sum % 8];
}

static void run_loop(void)
{
	do
		victim_loop(length = next_length(24, 80));
	while (again());
}

static void run_copy(void)
{
	do
		victim_copy(length = next_length(24, 96));
	while (again());
}

static void run_string(void)
{
	do
		victim_string(length = next_length(24, 96));
	while (again());
}

static void run_format(void)
{
	do
		victim_format(length = next_length(24, 96));
	while (again());
}

static void run_words(void)
{
	do
		victim_words(length = next_length(7, 12));
	while (again());
}

static void run_set(void)
{
	do
		victim_set(length = next_length(40, 112));
	while (again());
}

static void run_member(void)
{
	do
		victim_member(length = next_length(20, 80));
	while (again());
}

/* Called thousands of times, without a pause. */
static void run_often(void)
{
	for (int i = 0; i < 4000 && again(); i++)
		victim_often(11);
	victim_often(16);
}

static void run_far(void)
{
	for (int i = 0; i < 3 && again(); i++)
		victim_far(next_length(0, 0));
	victim_far(1);
}

static void *call_meanwhile(void *unused)
{
	for (;;) {
		victim_threads(7);
		usleep(1000);
	}
	return unused;
}

static void run_threads(void)
{
	pthread_t other;

	pthread_create(&other, NULL, call_meanwhile, NULL);
	while (again())
		usleep(20000);
	victim_threads(12);
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {
		{"loop", run_loop},	  {"copy", run_copy},	{"string", run_string},
		{"format", run_format},	  {"words", run_words}, {"set", run_set},
		{"member", run_member},	  {"often", run_often}, {"far", run_far},
		{"threads", run_threads}, {NULL, NULL}};

	memset(source, 'x', sizeof(source));
	return run_case(cases, argc, argv);
}
