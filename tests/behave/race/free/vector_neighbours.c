/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of structures of which each thread has one member, and one of which each has some
 * elements. Compilers make loops of vectors of that, which load the other threads' members and
 * elements as well and throw them away.
 */
#include "../harness.h"

#define COUNT 1024

static struct {
	int price, stock;
} item[COUNT];

static struct {
	short left, right;
} frame[COUNT];

static int owner[COUNT], share[COUNT];

__attribute__((noinline)) static int prices(void)
{
	int sum = 0;

	for (unsigned i = 0; i < COUNT; i++)
		sum += item[i].price;
	return sum;
}

__attribute__((noinline)) static int peak(void)
{
	int most = 0;

	for (unsigned i = 0; i < COUNT; i++)
		most = frame[i].left > most ? frame[i].left : most;
	return most;
}

__attribute__((noinline)) static int shares_of(int whose)
{
	int sum = 0;

	for (unsigned i = 0; i < COUNT; i++)
		if (owner[i] == whose)
			sum += share[i];
	return sum;
}

static void *reader(void *arg)
{
	while (running()) {
		consume(prices());
		consume(peak());
		consume(shares_of(1));
		pace_hot();
	}
	return arg;
}

__attribute__((noinline)) static void deliver(int number)
{
	for (unsigned i = 0; i < COUNT; i++) {
		item[i].stock = item[i].stock * 3 + number;
		frame[i].right = (short)number;
	}
	for (unsigned i = 0; i < COUNT; i += 2)
		share[i] = number;
}

static void *writer(void *arg)
{
	int number = 0;

	while (running()) {
		deliver(number++);
		pace_hot();
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	for (int i = 0; i < COUNT; i++)
		owner[i] = i & 1;
	harness_start(reader, harness_threads > 2 ? harness_threads - 1 : 1);
	harness_start(writer, 1);
	return harness_finish();
}
