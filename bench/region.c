/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a region's hit costs beside the least that any user of protection keys must do: a SIGSEGV
 * handler that opens the key in the saved rights and sets the trap flag, a SIGTRAP handler that
 * closes it. And what a system call costs beside a region. Prints one JSON object a line; the
 * measurements take turns.
 */
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <trapline/trapline.h>
#include <ucontext.h>
#include <unistd.h>

#define HITS 1000
#define CALLS 1000
#define ROUNDS 9
#define PAGE 4096
#define TRAP_FLAG 0x100
#define PRESENT_AT 512
#define FEATURE_PKRU 9

static volatile char *memory;
static volatile long calls;
static int bare_key = -1;
static uint32_t pkru_offset;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void change_rights(ucontext_t *context, uint32_t clear, uint32_t set)
{
	char *area = (char *)context->uc_mcontext.fpregs;

	*(uint64_t *)(area + PRESENT_AT) |= 1u << FEATURE_PKRU;
	*(uint32_t *)(area + pkru_offset) &= ~clear;
	*(uint32_t *)(area + pkru_offset) |= set;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	change_rights(context, 3u << 2 * bare_key, 0);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	change_rights(context, 0, 1u << 2 * bare_key);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	calls++;
}

static void take_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_flags = SA_SIGINFO;
	sigfillset(&action.sa_mask);
	action.sa_sigaction = on_fault;
	sigaction(SIGSEGV, &action, NULL);
	action.sa_sigaction = on_trap;
	sigaction(SIGTRAP, &action, NULL);
}

/* Nanoseconds a hit, after a few that find everything cold. */
static double touch(void)
{
	double begin;

	for (int i = 0; i < 100; i++)
		memory[100] = (char)i;
	calls = 0;
	begin = now_ns();
	for (int i = 0; i < HITS; i++)
		memory[100] = (char)i;
	if (calls != HITS) {
		fprintf(stderr, "region: %ld hits of %d\n", calls, HITS);
		exit(1);
	}
	return (now_ns() - begin) / HITS;
}

static double bare_hit(void)
{
	uint32_t eax, ecx, edx;

	__cpuid_count(0xd, FEATURE_PKRU, eax, pkru_offset, ecx, edx);
	bare_key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
	take_signals();
	pkey_mprotect((void *)memory, PAGE, PROT_READ | PROT_WRITE, bare_key);
	return touch();
}

static void count(tl_hit *hit, void *arg)
{
	(void)hit;
	(void)arg;
	calls++;
}

static void open_region(void)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)memory,
			       .len = 1000,
			       .access = TL_READ | TL_WRITE,
			       .scope = TL_PROCESS};
	tl_event *event;
	int err = tl_event_open(&event, &spec, count, NULL);

	if (err) {
		fprintf(stderr, "region: %s\n", tl_explain(err));
		exit(1);
	}
}

static double library_hit(void)
{
	open_region();
	return touch();
}

static double plain_call(void)
{
	double begin = now_ns();

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return (now_ns() - begin) / CALLS;
}

static double covered_call(void)
{
	open_region();
	return plain_call();
}

/* In a process of its own, since each takes the signals its own way. */
static double in_child(double (*measure)(void))
{
	double *result =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double value;
	int status;
	pid_t child = fork();

	if (child == 0) {
		*result = measure();
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (status)
		exit(1);
	value = *result;
	munmap(result, PAGE);
	return value;
}

static int compare(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return first < second ? -1 : first > second;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

int main(void)
{
	static double (*const measures[])(void) = {bare_hit, library_hit, plain_call, covered_call};
	static const char *const names[] = {"bare", "library", "call", "covered"};
	double values[4][ROUNDS];

	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 4; i++)
			values[i][round] = in_child(measures[i]);
	for (int i = 0; i < 4; i++)
		printf("%s\"%s\": %.0f", i ? ", " : "{", names[i], median(values[i]));
	printf("}\n");
	return 0;
}
