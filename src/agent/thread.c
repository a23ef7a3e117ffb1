/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads at their beginning: they inherit what their creator wishes of SIGTRAP (mask.c), and give
 * notice where each thread has its own copy of what is watched.
 */
#include "agent/state.h"

#include "base/syscall.h"
#include "trap/borrower.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <threads.h>
#include <trapline/event.h>

static struct {
	int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	int (*thrd_create)(thrd_t *, thrd_start_t, void *);
	int (*clone)(int (*)(void *), void *, int, void *, ...);
} libc;

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor)) static void resolve(void)
{
	if (libc.pthread_create)
		return;
	RESOLVE(thrd_create);
	RESOLVE(clone);
	RESOLVE(pthread_create);
}

/* On the creator's stack, which waits until the new thread has taken it: no memory is allocated in
 * the program's heap. */
struct beginning {
	union {
		void *(*body)(void *);
		thrd_start_t start;
	};
	void *argument;
	bool blocked, notice;
	uint32_t taken; /* futex */
};

static bool threads_give_notice(void)
{
	const struct area_process *process = agent_state.process;

	return process && atomic_load_explicit(&process->threads, memory_order_relaxed);
}

static void give_notice(void)
{
	struct area_registers registers = {0};

	/* The thread pointer's first word points to itself: ELF TLS, x86-64 psABI. */
	__asm__("mov %%fs:0, %0" : "=r"(registers.fs_base));
	registers.general[4] = (uintptr_t)__builtin_frame_address(0);
	agent_notice(AREA_HIT_THREAD, registers.fs_base, 0, &registers);
}

static struct beginning take(struct beginning *given)
{
	struct beginning beginning = *given;

	/* Release: pairs with the creator's acquire; *given is gone from here on. */
	__atomic_store_n(&given->taken, 1, __ATOMIC_RELEASE);
	raw_futex(&given->taken, FUTEX_WAKE_PRIVATE, 1, NULL);
	if (beginning.blocked)
		mask_begin_blocked();
	if (beginning.notice)
		give_notice();
	return beginning;
}

static void *begin_pthread(void *argument)
{
	struct beginning beginning = take(argument);

	return beginning.body(beginning.argument);
}

static int begin_thrd(void *argument)
{
	struct beginning beginning = take(argument);

	return beginning.start(beginning.argument);
}

/* Returns the mask to be set again. */
static uint64_t before_creation(struct beginning *beginning)
{
	uint64_t trap = 1ull << (SIGTRAP - 1), before = 0;

	beginning->blocked = mask_is_blocked();
	beginning->notice = threads_give_notice();
	beginning->taken = 0;
	if (beginning->blocked)
		raw_sigprocmask(SIG_BLOCK, &trap, &before);
	return before;
}

static void after_creation(struct beginning *beginning, uint64_t before, bool created)
{
	if (beginning->blocked)
		raw_sigprocmask(SIG_SETMASK, &before, NULL);
	while (created && !__atomic_load_n(&beginning->taken, __ATOMIC_ACQUIRE))
		raw_futex(&beginning->taken, FUTEX_WAIT_PRIVATE, 0, NULL);
}

TL_API int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*body)(void *), void *argument)
{
	struct beginning beginning = {.body = body, .argument = argument};
	uint64_t before;
	int err;

	resolve();
	if (!mask_is_blocked() && !threads_give_notice())
		return libc.pthread_create(thread, attributes, body, argument);
	before = before_creation(&beginning);
	err = libc.pthread_create(thread, attributes, begin_pthread, &beginning);
	after_creation(&beginning, before, !err);
	return err;
}

TL_API int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	struct beginning beginning = {.start = start, .argument = argument};
	uint64_t before;
	int result;

	resolve();
	if (!mask_is_blocked() && !threads_give_notice())
		return libc.thrd_create(thread, start, argument);
	before = before_creation(&beginning);
	result = libc.thrd_create(thread, begin_thrd, &beginning);
	after_creation(&beginning, before, result == thrd_success);
	return result;
}

/* A process that shares memory and signals with this one, as threads once were made. */
TL_API int clone(int (*body)(void *), void *stack, int flags, void *argument, ...)
{
	const int sharing = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
	pid_t *parent, *child;
	va_list list;
	void *tls;

	va_start(list, argument);
	parent = va_arg(list, pid_t *);
	tls = va_arg(list, void *);
	child = va_arg(list, pid_t *);
	va_end(list);
	resolve();
	if ((flags & sharing) == (CLONE_VM | CLONE_SIGHAND))
		borrower_share();
	return libc.clone(body, stack, flags, argument, parent, tls, child);
}
