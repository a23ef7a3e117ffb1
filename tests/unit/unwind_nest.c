/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code to be walked through instruction by instruction: compiled several times, at several
 * optimisation levels and without frame pointers, as NEST_NAME. It takes every kind of frame a
 * compiler makes.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__ /* which never clones */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

int NEST_NAME(int rounds);

static volatile int sink;

static NOINLINE int leaf(int a, int b)
{
	return a * 3 + b;
}

static NOINLINE int recurse(int depth)
{
	if (depth == 0)
		return leaf(1, 2);
	return recurse(depth - 1) + leaf(depth, sink);
}

static NOINLINE int tail(int depth)
{
	if (depth <= 0)
		return leaf(depth, 1);
	sink = depth;
	return tail(depth - 1);
}

static NOINLINE int many_registers(int a, int b, int c, int d, int e, int f, int g, int h)
{
	int x = leaf(a, b), y = leaf(c, d), z = leaf(e, f), w = leaf(g, h);

	sink = x;
	return x * y + z * w + leaf(x, w) + a + b + c + d + e + f + g + h;
}

static NOINLINE int realigned(int n)
{
	char block[96] __attribute__((aligned(64)));

	memset(block, n, sizeof(block));
	sink = block[n % 96];
	return leaf(block[3], n);
}

static NOINLINE int realigned_and_dynamic(int n)
{
	char block[64] __attribute__((aligned(64)));
	char *more = alloca((size_t)n * 8 + 16);

	memset(block, n, sizeof(block));
	memset(more, n, (size_t)n * 8);
	sink = block[1] + more[n];
	return leaf(block[3], more[1]) + recurse(2);
}

static NOINLINE int sum_of(int count, ...)
{
	va_list list;
	double sum = 0;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(list, double);
	va_end(list);
	return (int)sum;
}

static int compare(const void *a, const void *b)
{
	return leaf(*(const int *)a, 0) - leaf(*(const int *)b, 0);
}

static NOINLINE int sort(void)
{
	int numbers[6] = {5, 1, 4, 2, 6, 3};

	qsort(numbers, 6, sizeof(numbers[0]), compare);
	return numbers[0];
}

static NOINLINE int large_frame(int n)
{
	char text[9000];

	snprintf(text, sizeof(text), "%d %s %.3f", n, "text", n * 1.5);
	return (int)strlen(text);
}

static NOINLINE void leave(jmp_buf *buffer, int depth)
{
	if (depth == 0)
		longjmp(*buffer, 1);
	if (depth > 100) /* never: lets the compiler see a way out */
		return;
	leave(buffer, depth - 1);
	sink++;
}

static NOINLINE int jump_out(void)
{
	jmp_buf buffer;

	if (setjmp(buffer) == 0)
		leave(&buffer, 3);
	return leaf(sink, 2);
}

static NOINLINE int early_returns(int n)
{
	if (n == 0)
		return 0;
	if (n == 1)
		return leaf(n, 3) + 1;
	for (int i = 0; i < n; i++) {
		if (leaf(i, n) > 20)
			return recurse(1) + i;
	}
	return many_registers(n, 1, 2, 3, 4, 5, 6, 7);
}

static NOINLINE int clock_reads(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_nsec > 0;
}

static NOINLINE int heap(void)
{
	char *block = malloc(100);
	int first;

	memset(block, 1, 100);
	first = block[sink & 63];
	free(block);
	return first;
}

int NEST_NAME(int rounds)
{
	int (*volatile through_pointer)(int) = recurse;
	int result = 0;

	for (int i = 0; i < rounds; i++) {
		result += recurse(5) + tail(3) + many_registers(i, 2, 3, 4, 5, 6, 7, 8);
		result += realigned(i) + realigned_and_dynamic(i + 1);
		result += sum_of(3, 1.0, 2.0, 3.0) + sort() + large_frame(i) + jump_out();
		result += early_returns(i) + clock_reads() + heap() + through_pointer(2);
	}
	return result;
}
