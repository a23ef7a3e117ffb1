/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that would use the other threads' variables if their threads ever came to it, in ways that
 * compilers make of it by vectors, by conditional moves, by induction variables, and in functions
 * that return nothing, with the value left in the register of results. */
#include "../harness.h"

#define LENGTH 64
#define FEW 4

struct entry {
	struct entry *next;
	int mark;
};

static long counted, summed, stepped, marked, added, stored, mixed;
static int summed_int, chosen;
static double summed_double;
static struct entry few_numbers[FEW], few_marks[FEW];
static int numbers[LENGTH], marks[LENGTH];
static long wide_numbers[LENGTH], wide_marks[LENGTH], number_results[LENGTH], mark_results[LENGTH];

static __attribute__((noinline)) void count_few(const struct entry *entry, int wanted)
{
	for (; entry; entry = entry->next)
		if (entry->mark == wanted)
			counted += wanted;
}

static __attribute__((noinline)) long sum(const int *from, int wanted)
{
	long result = 0;

	for (int i = 0; i < LENGTH; i++)
		if (from[i] == wanted)
			result += summed;
	return result;
}

static __attribute__((noinline)) int sum_int(const int *from, int wanted)
{
	int result = 0;

	for (int i = 0; i < LENGTH; i++)
		if (from[i] == wanted)
			result += summed_int;
	return result;
}

static __attribute__((noinline)) double sum_double(const int *from, int wanted)
{
	double result = 0;

	for (int i = 0; i < LENGTH; i++)
		if (from[i] == wanted)
			result += summed_double;
	return result;
}

static __attribute__((noinline)) long sum_steps(const long *from, int wanted)
{
	long result = 0;

	for (int i = 0; i < LENGTH; i++)
		if (from[i] == wanted)
			result += stepped * i;
	return result;
}

static __attribute__((noinline)) void count_marked(const int *from, int wanted)
{
	for (int i = 0; i < LENGTH; i++)
		if (from[i] == wanted)
			marked++;
}

static __attribute__((noinline)) long add_to_large(const long *from)
{
	long result = 0;

	for (int i = 0; i < LENGTH; i++) {
		long value = from[i];

		if (value > LENGTH)
			value += added;
		result ^= value;
	}
	return result;
}

static __attribute__((noinline)) void store_where(const int *from, long *to, int wanted)
{
	for (int i = 0; i < LENGTH; i++)
		if (from[i] == wanted)
			to[i] = stored;
}

static __attribute__((noinline)) int choose(const int *from, int wanted)
{
	int result = 0;

	for (int i = 0; i < LENGTH; i++)
		result += from[i] == wanted ? chosen : 3;
	return result;
}

static __attribute__((noinline)) long mix_rows(const int *from, int wanted)
{
	long result = 0;

	for (int i = 0; i < LENGTH / 8; i++)
		if (from[i] == wanted)
			for (int j = 0; j < 8; j++)
				result += mixed ^ from[i * 8 + j];
	return result;
}

static void go_through(const struct entry *few, const int *narrow, const long *wide, long *results)
{
	count_few(few, 1);
	consume((int)sum(narrow, 1));
	consume(sum_int(narrow, 1));
	consume((int)sum_double(narrow, 1));
	consume((int)sum_steps(wide, 1));
	count_marked(narrow, 1);
	consume((int)add_to_large(wide));
	store_where(narrow, results, 1);
	consume((int)mix_rows(narrow, 1));
	consume(choose(narrow, 1));
}

static void *owner(void *arg)
{
	while (running()) {
		counted++;
		summed++;
		summed_int++;
		summed_double += 1;
		stepped++;
		marked++;
		added++;
		stored++;
		chosen++;
		mixed++;
		go_through(few_marks, marks, wide_marks, mark_results);
		pace_hot();
	}
	return arg;
}

static void *visitor(void *arg)
{
	while (running()) {
		go_through(few_numbers, numbers, wide_numbers, number_results);
		pace_hot();
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	for (int i = 0; i < LENGTH; i++) {
		marks[i] = i % 2;
		wide_marks[i] = i % 2 ? 1 : 2 * LENGTH;
	}
	for (int i = 0; i < FEW; i++) {
		few_marks[i].mark = i % 2;
		few_marks[i].next = i + 1 < FEW ? &few_marks[i + 1] : NULL;
		few_numbers[i].next = i + 1 < FEW ? &few_numbers[i + 1] : NULL;
	}
	harness_start(owner, 1);
	harness_start(visitor, harness_threads - 1);
	return harness_finish();
}
