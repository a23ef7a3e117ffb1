/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of apply and revert of three functions at once while threads call them, also from signal
 * handlers. Every result is the old or the new one's. A call that began after apply had returned
 * and ended before revert was called is the new one's, and the other way round. While a patch is
 * being applied, a thread that has called one new function never calls an old one again; while it
 * is being reverted, the other way round. Every byte is as before in the end.
 *
 * usage: patch_stress [ROUNDS [THREADS…]]   (default: some thousands with 4, 16 and 64 threads;
 * the full test is patch_stress 1000000)
 */
#include "check.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

typedef long function(long);

/* Each begins with several short instructions, so that a thread can be inside the jump's bytes in
 * several places. `skip`: how far behind a cache line's begin. */
#define ASSEMBLED(name, skip, begin, sum, end)                                               \
	long name(long x);                                                                   \
	__asm__(".text\n.p2align 6\n.skip " #skip ",0xcc\n.type " #name ",@function\n" #name \
		":\n.cfi_startproc\n" begin "\n mov %rdi,%rax\n add $" #sum ",%rax\n" end    \
		"\n ret\n.cfi_endproc\n.size " #name ",.-" #name "\n")

#define PUSHES "push %rbx\n push %rbp\n push %r12\n push %r13"
#define POPS "pop %r13\n pop %r12\n pop %rbp\n pop %rbx"
#define FRAME "push %rbp\n mov %rsp,%rbp\n call patch_stress_helper"

__asm__(".text\n.type patch_stress_helper,@function\npatch_stress_helper:\n"
	".cfi_startproc\n nop\n ret\n.cfi_endproc\n"
	".size patch_stress_helper,.-patch_stress_helper\n");
ASSEMBLED(first_old, 0, PUSHES, 1, POPS);
ASSEMBLED(first_new, 0, PUSHES, 1001, POPS);
ASSEMBLED(second_old, 62, PUSHES, 2, POPS); /* its jump crosses a cache line */
ASSEMBLED(second_new, 0, PUSHES, 1002, POPS);
ASSEMBLED(third_old, 0, FRAME, 3, "leave");
ASSEMBLED(third_new, 0, FRAME, 1003, "leave");

#define FUNCTIONS 3
#define MAX_THREADS 64

static function *const old_functions[FUNCTIONS] = {first_old, second_old, third_old};
static function *const new_functions[FUNCTIONS] = {first_new, second_new, third_new};

/* Modulo 4: 0 old, 1 being applied, 2 new, 3 being reverted. */
static uint64_t phase;
static int stop;
static int callers_priority;
static uint64_t calls, calls_of_new, calls_in_change;

/* What a thread, outside of signal handlers, has seen in the phase it was last in. */
struct seen {
	uint64_t phase;
	bool old, new;
};

static uint64_t phase_now(void)
{
	return __atomic_load_n(&phase, __ATOMIC_SEQ_CST);
}

static void check_order(struct seen *seen, uint64_t in, bool is_new)
{
	if (seen->phase != in)
		*seen = (struct seen){.phase = in};
	if (in % 4 == 1)
		CHECK(is_new || !seen->new, "old after new while applying");
	else
		CHECK(!is_new || !seen->old, "new after old while reverting");
	seen->old |= !is_new;
	seen->new |= is_new;
}

/* `seen` NULL: of a signal handler, which may have interrupted a call. */
static void check_call(unsigned which, long x, struct seen *seen)
{
	function *volatile called = old_functions[which];
	long sum = (long)which + 1;
	uint64_t before = phase_now();
	long result = called(x);
	uint64_t after = phase_now();
	bool is_new = result == x + sum + 1000;

	CHECK(is_new || result == x + sum, "%ld of %ld", result, x);
	__atomic_fetch_add(&calls_of_new, is_new, __ATOMIC_RELAXED);
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	if (before != after)
		return;
	if (before % 2 == 0)
		CHECK(is_new == (before % 4 == 2), "phase %llu, new %d", (unsigned long long)before,
		      is_new);
	else if (seen)
		check_order(seen, before, is_new);
	if (before % 2)
		__atomic_fetch_add(&calls_in_change, 1, __ATOMIC_RELAXED);
}

/* Threads that share a processor also sleep, as a server's do. */
static void *caller(void *arg)
{
	unsigned pause = *(unsigned *)arg;
	struct seen seen = {0};

	setpriority(PRIO_PROCESS, (id_t)check_gettid(), callers_priority);
	for (long x = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); x++) {
		check_call((unsigned)x % FUNCTIONS, x, &seen);
		if (pause && x % 256 == 0)
			usleep(pause);
	}
	return NULL;
}

static void on_alarm(int signal)
{
	int saved_errno = errno;

	(void)signal;
	for (unsigned i = 0; i < FUNCTIONS; i++)
		check_call(i, i, NULL);
	errno = saved_errno;
}

static void interrupt_every(long microseconds)
{
	struct itimerval interval = {{0, microseconds}, {0, microseconds}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
}

static void next_phase(void)
{
	__atomic_fetch_add(&phase, 1, __ATOMIC_SEQ_CST);
}

static void one_round(void)
{
	struct tl_patch_change changes[FUNCTIONS];
	tl_patch *patch;

	for (unsigned i = 0; i < FUNCTIONS; i++)
		changes[i] = (struct tl_patch_change){(void *)old_functions[i],
						      (void *)new_functions[i]};
	next_phase();
	CHECK_OK(tl_patch_apply_all(&patch, changes, FUNCTIONS, 0));
	next_phase();
	CHECK(!tl_patch_on_breakpoint(patch), "on breakpoint: %s", tl_patch_reason(patch));
	usleep(20);
	next_phase();
	CHECK_OK(tl_patch_revert(patch));
	next_phase();
	usleep(20);
}

static void save_bytes(uint8_t bytes[FUNCTIONS][32])
{
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		const volatile uint8_t *code = (const volatile uint8_t *)old_functions[i] - 8;

		for (int byte = 0; byte < 32; byte++)
			bytes[i][byte] = code[byte];
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void rounds(unsigned threads, unsigned pause, unsigned long count)
{
	uint64_t traps = check_stat("patch-traps"), moves = check_stat("patch-moves");
	static uint8_t before[FUNCTIONS][32], after[FUNCTIONS][32];
	pthread_t callers[MAX_THREADS];
	double began = seconds();

	save_bytes(before);
	stop = 0;
	calls = calls_of_new = calls_in_change = 0;
	for (unsigned i = 0; i < threads; i++)
		CHECK(!pthread_create(&callers[i], NULL, caller, &pause), "create");
	for (unsigned long i = 0; i < count; i++)
		one_round();
	stop = 1;
	for (unsigned i = 0; i < threads; i++)
		pthread_join(callers[i], NULL);
	save_bytes(after);
	CHECK(!memcmp(before, after, sizeof(before)), "bytes changed");
	printf("%u threads, %lu rounds in %.1f s, %llu calls, %llu of them new, %llu during a "
	       "change, %llu trapped, %llu moved\n",
	       threads, count, seconds() - began, (unsigned long long)calls,
	       (unsigned long long)calls_of_new, (unsigned long long)calls_in_change,
	       (unsigned long long)(check_stat("patch-traps") - traps),
	       (unsigned long long)(check_stat("patch-moves") - moves));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	/* Among busy callers the patching thread should still get its turns; not all may do so. */
	callers_priority = getpriority(PRIO_PROCESS, 0);
	setpriority(PRIO_PROCESS, (id_t)check_gettid(), -20);
	prctl(PR_SET_TIMERSLACK, 1);
	interrupt_every(1000);
	for (int i = 2; i < argc; i++)
		rounds((unsigned)strtoul(argv[i], NULL, 10),
		       40 * (unsigned)strtoul(argv[i], NULL, 10), count);
	if (argc > 2)
		return 0;
	rounds(4, 0, count ? count / 4 : 400);
	rounds(4, 200, count ? count / 4 : 3000);
	rounds(16, 500, count ? count / 4 : 1000);
	rounds(64, 2000, count ? count / 4 : 400);
	return 0;
}
