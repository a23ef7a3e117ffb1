/* SPDX-License-Identifier: Apache-2.0 */
/* __atomic builtins on ordinary variables, some behind macros and functions of the program. */
#include "../harness.h"

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)

static int phase;
static unsigned long ticks;
static long limits[2];
static struct {
	short width;
	short height;
} window;

__attribute__((noinline)) static long get_limit(const long *limit)
{
	return __atomic_load_n(limit, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void set_limit(long *limit, long value)
{
	__atomic_store_n(limit, value, __ATOMIC_RELAXED);
}

static void *change(void *arg)
{
	unsigned long turn = (uintptr_t)arg;

	while (running()) {
		turn++;
		WRITE_ONCE(phase, (int)turn);
		WRITE_ONCE(ticks, READ_ONCE(ticks) + 1);
		__atomic_store_n(&window.width, (short)turn, __ATOMIC_RELAXED);
		__atomic_store_n(&window.height, (short)(turn >> 8), __ATOMIC_RELEASE);
		set_limit(&limits[turn & 1], (long)turn);
		pace_hot();
	}
	return NULL;
}

static void *look(void *arg)
{
	short width;

	(void)arg;
	while (running()) {
		consume(READ_ONCE(phase));
		consume(READ_ONCE(ticks));
		__atomic_load(&window.width, &width, __ATOMIC_RELAXED);
		consume(width);
		consume(__atomic_load_n(&window.height, __ATOMIC_ACQUIRE));
		consume(get_limit(&limits[0]) + get_limit(&limits[1]));
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(change, harness_threads / 2);
	harness_start(look, harness_threads - harness_threads / 2);
	return harness_finish();
}
