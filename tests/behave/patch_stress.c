/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of apply and revert while threads call the functions. Every result is the old or the new
 * one's; a call that began after apply returned, and ended before revert was called, gave the new
 * one's; and the other way round. How often a thread went back to an old function while both were
 * being replaced is counted and told.
 *
 * usage: patch_stress [ROUNDS]   (default: some hundreds; the full test is 1000000)
 */
#include "check.h"

#include <pthread.h>
#include <time.h>

typedef long function(long);

/* Each begins with instructions of one and two bytes, so that a thread can be inside the jump's
 * bytes in several places. The second is placed so that its jump crosses a block of 16. */
#define ASSEMBLED(name, skip, sum)                                                           \
	long name(long x);                                                                   \
	__asm__(".text\n.p2align 4\n.skip " #skip ",0xcc\n.type " #name ",@function\n" #name \
		":\n.cfi_startproc\n"                                                        \
		"push %rbx\n push %rbp\n push %r12\n push %r13\n mov %rdi,%rbx\n"            \
		"add $" #sum ",%rbx\n mov %rbx,%rax\n"                                       \
		"pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"                          \
		".cfi_endproc\n.size " #name ",.-" #name "\n")

ASSEMBLED(first_old, 0, 1);
ASSEMBLED(first_new, 0, 1001);
ASSEMBLED(second_old, 14, 2);
ASSEMBLED(second_new, 0, 1002);

#define MAX_THREADS 64

/* Modulo 4: 0 old, 1 being applied, 2 new, 3 being reverted. */
static uint64_t phase;
static int stop;
static uint64_t calls, calls_of_new;
static uint64_t went_back; /* see "Limits" in docs/patch.md: counted, not a failure */

static uint64_t phase_now(void)
{
	return __atomic_load_n(&phase, __ATOMIC_SEQ_CST);
}

/* 1 if the new function ran. */
static int check_call(function *volatile fn, long x, long old_sum)
{
	uint64_t before = phase_now();
	long result = fn(x);
	uint64_t after = phase_now();
	int is_new = result == x + old_sum + 1000;

	CHECK(is_new || result == x + old_sum, "%ld of %ld", result, x);
	if (before == after && before % 2 == 0)
		CHECK(is_new == (before % 4 == 2), "phase %llu, new %d", (unsigned long long)before,
		      is_new);
	return is_new;
}

static void check_both(long x)
{
	uint64_t before = phase_now();
	int first = check_call(first_old, x, 1);
	int second = check_call(second_old, x, 2);

	/* Within one change: never back. */
	if (before == phase_now() && before % 4 == 1)
		went_back += first > second;
	if (before == phase_now() && before % 4 == 3)
		went_back += first < second;
	__atomic_fetch_add(&calls, 2, __ATOMIC_RELAXED);
	__atomic_fetch_add(&calls_of_new, (uint64_t)(first + second), __ATOMIC_RELAXED);
}

/* Threads that share a processor also sleep, as a server's do. */
static void *caller(void *arg)
{
	long pause = (long)arg;

	for (long x = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); x++) {
		check_both(x);
		if (pause && x % 64 == 0)
			usleep((unsigned)pause);
	}
	return NULL;
}

static void next_phase(void)
{
	__atomic_fetch_add(&phase, 1, __ATOMIC_SEQ_CST);
}

static unsigned stayed;

static void one_round(void)
{
	struct tl_patch_change changes[] = {{(void *)first_old, (void *)first_new},
					    {(void *)second_old, (void *)second_new}};
	tl_patch *patch;

	next_phase();
	CHECK_OK(tl_patch_apply_all(&patch, changes, 2, 0));
	next_phase();
	stayed += (unsigned)tl_patch_on_breakpoint(patch);
	sched_yield();
	next_phase();
	CHECK_OK(tl_patch_revert(patch));
	next_phase();
	sched_yield();
}

static void rounds(unsigned threads, long pause, unsigned long count)
{
	pthread_t callers[MAX_THREADS];
	uint8_t before[64], after[64];

	memcpy(before, (void *)first_old, 16);
	memcpy(before + 16, (void *)second_old, 16);
	stop = 0;
	calls = calls_of_new = 0;
	stayed = 0;
	for (unsigned i = 0; i < threads; i++)
		CHECK(!pthread_create(&callers[i], NULL, caller, (void *)pause), "create");
	for (unsigned long i = 0; i < count; i++)
		one_round();
	stop = 1;
	for (unsigned i = 0; i < threads; i++)
		pthread_join(callers[i], NULL);
	memcpy(after, (void *)first_old, 16);
	memcpy(after + 16, (void *)second_old, 16);
	CHECK(!memcmp(before, after, 32), "bytes changed");
	fprintf(stderr,
		"%u threads, %lu rounds, %llu calls, %llu of them new, %u on breakpoint, "
		"%llu went back\n",
		threads, count, (unsigned long long)calls, (unsigned long long)calls_of_new, stayed,
		(unsigned long long)went_back);
	CHECK(stayed < count, "no round wrote a jump");
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	check_hardware();
	rounds(4, 0, count ? count / 2 : 10);
	rounds(4, 200, count ? count / 4 : 150);
	rounds(64, 2000, count ? count / 4 : 20);
	return 0;
}
