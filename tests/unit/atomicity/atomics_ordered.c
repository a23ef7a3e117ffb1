/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volatiles in functions that order memory by macros and functions of their own names, and in some
 * that do not. Marks as in atomicity.c.
 */
volatile int ready, turn;
int counter, stopped;

#define CB() __asm__ volatile("" ::: "memory")
#define SYNC() __sync_synchronize()
#define FENCED(statement)                   \
	do {                                \
		__asm__ volatile("mfence"); \
		statement;                  \
	} while (0)
#define KEEP(value) __asm__ volatile("" : : "r"(value))
#define HALF SYNC()

static inline void settle(void)
{
	__asm__ volatile("" ::: "memory");
}

static inline void settle_twice(void)
{
	settle();
}

static inline int running(void)
{
	return !__atomic_load_n(&stopped, __ATOMIC_RELAXED); /* atomic: */
}

__attribute__((noinline)) void by_macro(int n)
{
	counter = n; /* plain: */
	CB();
	ready = 1; /* ordered: */
}

__attribute__((noinline)) void by_nested_macro(void)
{
	HALF;
	turn = 2; /* ordered: */
}

__attribute__((noinline)) void by_argument(void)
{
	FENCED(turn = 3); /* doubted: */
	ready = 3;	  /* ordered: */
}

__attribute__((noinline)) void by_function(void)
{
	settle();
	ready = 4; /* ordered: */
}

__attribute__((noinline)) void by_nested_function(void)
{
	settle_twice();
	ready = 5; /* ordered: */
}

__attribute__((noinline)) int by_nothing(int n)
{
	while (running())
		n += turn; /* volatile: */
	KEEP(n);
	ready = n; /* volatile: */
	return n;
}

int main(void)
{
	by_macro(1);
	by_nested_macro();
	by_argument();
	by_function();
	by_nested_function();
	return by_nothing(3);
}
