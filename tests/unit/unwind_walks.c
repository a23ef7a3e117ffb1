/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole walks from signal handlers: faults, alternate stacks, threads, coroutines, code without
 * tables, stacks that are no stacks, and GCC's own unwinder as the reference.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "unwind/unwind.h"

#define DEPTH 256
#ifdef __clang__ /* which never clones */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition); \
			failures++;                                                     \
		}                                                                       \
	} while (0)

static int failures;
static volatile int sink;

static struct {
	uintptr_t pcs[DEPTH];
	int count;
	int complete;
} walked;

static sigjmp_buf escape;
static bool escapes;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	walked.count = unwind_backtrace(context, walked.pcs, DEPTH, &walked.complete);
	if (escapes)
		siglongjmp(escape, 1);
}

static void catch_signal(int number, int flags)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};

	sigaction(number, &action, NULL);
}

static int frame_of(void *function)
{
	uintptr_t start, end;

	if (unwind_function_bounds((uintptr_t)function, &start, &end))
		return -1;
	for (int i = 0; i < walked.count; i++) {
		if (walked.pcs[i] - !!i >= start && walked.pcs[i] - !!i < end)
			return i;
	}
	return -1;
}

static NOINLINE void raiser(int depth)
{
	if (depth)
		raiser(depth - 1);
	else
		raise(SIGUSR1);
	sink++;
}

static struct {
	uintptr_t pcs[DEPTH];
	int count;
} reference;

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *argument)
{
	(void)argument;
	if (reference.count < DEPTH)
		reference.pcs[reference.count++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* Both from within one handler: from our own frame up, the two must agree to the last frame. */
static void on_compare(int number, siginfo_t *info, void *context)
{
	int at = -1;

	on_signal(number, info, context);
	reference.count = 0;
	_Unwind_Backtrace(note, NULL);
	for (int i = 0; i < reference.count; i++) {
		if (reference.pcs[i] == walked.pcs[0])
			at = i;
	}
	CHECK(at >= 0);
	/* GCC's ends with a zero after the outermost frame in some versions. */
	while (reference.count && reference.pcs[reference.count - 1] == 0)
		reference.count--;
	CHECK(reference.count - at == walked.count);
	for (int i = 0; at >= 0 && i < walked.count && at + i < reference.count; i++)
		CHECK(reference.pcs[at + i] == walked.pcs[i]);
}

static void agrees_with_gcc(void)
{
	struct sigaction action = {.sa_sigaction = on_compare, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &action, NULL);
	raiser(20);
	CHECK(walked.complete);
}

static int raise_in_callback(const void *a, const void *b)
{
	raise(SIGUSR1);
	return *(const int *)a - *(const int *)b;
}

static void crosses_libc(void)
{
	int numbers[2] = {2, 1};

	catch_signal(SIGUSR1, 0);
	qsort(numbers, 2, sizeof(numbers[0]), raise_in_callback);
	CHECK(walked.complete);
	CHECK(frame_of((void *)raise_in_callback) > 0);
	CHECK(frame_of((void *)crosses_libc) > frame_of((void *)raise_in_callback) + 1);
}

static void on_outer(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	raiser(2);
	sink++; /* no tail call */
}

static NOINLINE void raise_outer(void)
{
	raise(SIGUSR2);
	sink++;
}

/* A signal in a handler on its own stack: two signal frames and a change of stacks. */
static void crosses_alternate_stack(void)
{
	struct sigaction action = {.sa_sigaction = on_outer, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};

	sigaltstack(&stack, NULL);
	catch_signal(SIGUSR1, 0);
	sigaction(SIGUSR2, &action, NULL);
	raise_outer();
	CHECK(walked.complete);
	CHECK(frame_of((void *)on_outer) > 0);
	CHECK(frame_of((void *)raise_outer) > frame_of((void *)on_outer));
	CHECK(frame_of((void *)crosses_alternate_stack) > frame_of((void *)raise_outer));
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
}

static void *thread_main(void *argument)
{
	raiser(3);
	return argument;
}

static void ends_at_thread_start(void)
{
	pthread_t thread;

	catch_signal(SIGUSR1, 0);
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	CHECK(walked.complete);
	CHECK(frame_of((void *)thread_main) > 4);
	CHECK(frame_of((void *)ends_at_thread_start) < 0);
}

static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
	raiser(3);
	sink++;
}

static void ends_at_coroutine_start(void)
{
	char *stack = malloc(65536);

	catch_signal(SIGUSR1, 0);
	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = stack;
	coroutine_context.uc_stack.ss_size = 65536;
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine, 0);
	swapcontext(&main_context, &coroutine_context);
	CHECK(walked.complete);
	CHECK(frame_of((void *)coroutine) > 3);
	free(stack);
}

static NOINLINE void call_nothing(void)
{
	void (*volatile nothing)(void) = NULL;

	nothing();
	sink++;
}

static void survives_call_of_null(void)
{
	catch_signal(SIGSEGV, SA_NODEFER);
	escapes = true;
	if (sigsetjmp(escape, 1) == 0)
		call_nothing();
	escapes = false;
	CHECK(walked.pcs[0] == 0);
	CHECK(walked.complete);
	CHECK(frame_of((void *)call_nothing) == 1);
	CHECK(frame_of((void *)survives_call_of_null) == 2);
}

/* Contexts whose registers and stack are noise: any answer will do, but no fault and an end. */
static void survives_noise(void)
{
	static uint64_t noise[4096];
	ucontext_t context;
	uintptr_t pcs[DEPTH];
	uintptr_t places[] = {(uintptr_t)raiser + 20,
			      (uintptr_t)qsort + 9,
			      (uintptr_t)snprintf + 31,
			      (uintptr_t)pthread_create + 77,
			      (uintptr_t)thread_main + 5,
			      0,
			      ~(uintptr_t)0,
			      4096};
	unsigned seed = 1;
	int complete;

	memset(&context, 0, sizeof(context));
	for (int round = 0; round < 20000; round++) {
		for (int i = 0; i < 32; i++)
			noise[rand_r(&seed) % 4096] =
				rand_r(&seed) % 3
					? (uintptr_t)&noise[rand_r(&seed) % 4096]
					: places[rand_r(&seed) % 8] + (unsigned)round % 64;
		for (int i = 0; i < NGREG; i++)
			context.uc_mcontext.gregs[i] =
				(greg_t)(uintptr_t)&noise[rand_r(&seed) % 4096];
		context.uc_mcontext.gregs[REG_RIP] =
			(greg_t)(places[rand_r(&seed) % 8] + (unsigned)rand_r(&seed) % 64);
		if (rand_r(&seed) % 8 == 0)
			context.uc_mcontext.gregs[REG_RSP] = (greg_t)rand_r(&seed) << 20;
		CHECK(unwind_backtrace(&context, pcs, DEPTH, &complete) >= 1);
	}
}

static NOINLINE void smash(uintptr_t *frame)
{
	uintptr_t saved[2] = {frame[0], frame[1]};

	frame[0] = 0x4141414141414141u;
	frame[1] = 0x4242424242424242u;
	raise(SIGUSR1);
	frame[0] = saved[0];
	frame[1] = saved[1];
}

static NOINLINE void smashed(void)
{
	smash(__builtin_frame_address(0));
	sink++;
}

static void stops_at_corruption(void)
{
	catch_signal(SIGUSR1, 0);
	smashed();
	CHECK(!walked.complete);
	CHECK(frame_of((void *)smashed) == walked.count - 1);
}

static void call_raiser(void)
{
	raiser(0);
	sink++;
}

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static void follows_frame_pointer(void)
{
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*generated)(void (*)(void));

	memcpy(memory, code, sizeof(code));
	memcpy(&generated, &memory, sizeof(memory));
	catch_signal(SIGUSR1, 0);
	generated(call_raiser);
	CHECK(walked.complete);
	CHECK(frame_of((void *)follows_frame_pointer) == frame_of((void *)call_raiser) + 2);
	munmap(memory, 4096);
}

static void on_measure(int number, siginfo_t *info, void *context)
{
	enum { ROUNDS = 2000 };
	struct timespec begin, end;
	int64_t nanoseconds;

	on_signal(number, info, context);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < ROUNDS; i++)
		on_signal(number, info, context);
	clock_gettime(CLOCK_MONOTONIC, &end);
	nanoseconds = (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
	printf("%d frames, %ld ns a frame\n", walked.count,
	       (long)(nanoseconds / ROUNDS / walked.count));
}

static void measure(void)
{
	struct sigaction action = {.sa_sigaction = on_measure, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &action, NULL);
	raiser(5);
	raiser(50);
}

int main(void)
{
	agrees_with_gcc();
	crosses_libc();
	crosses_alternate_stack();
	ends_at_thread_start();
	ends_at_coroutine_start();
	survives_call_of_null();
	survives_noise();
	stops_at_corruption();
	follows_frame_pointer();
	measure();
	return failures != 0;
}
