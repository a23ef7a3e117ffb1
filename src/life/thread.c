/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads at their beginning. A new thread inherits what its creator wishes of SIGTRAP
 * (mask/mask.c); gives notice where each thread has its own copy of what is watched; and is told
 * of, together with its creator, where look-ahead from both is wanted (contact/birth.h).
 */
#include "agent/arch.h"
#include "agent/state.h"
#include "base/syscall.h"
#include "contact/birth.h"
#include "contact/notice.h"
#include "insn/arch.h"
#include "life/process.h"
#include "mask/mask.h"
#include "signal/borrower.h"

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
	int (*pthread_setattr_default_np)(const pthread_attr_t *);
	pid_t (*_Fork)(void);
} libc;

/* Set once the program has changed the default attributes of threads, which may contain a mask. */
static _Atomic bool default_is_set;

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor)) static void resolve(void)
{
	if (libc.pthread_create)
		return;
	RESOLVE(thrd_create);
	RESOLVE(clone);
	RESOLVE(pthread_setattr_default_np);
	RESOLVE(_Fork);
	RESOLVE(pthread_create);
}

#define HANDED_MOST 32

struct beginning {
	struct agent_begun own; /* the program's function and its argument */
	bool blocked, notice;
	bool told; /* the controller is told of this thread and of its creator */
};

/* What a new thread takes over from its creator. It stands in a table of ours, so that no memory is
 * allocated in the program's heap. */
struct handed {
	struct beginning beginning;
	uint32_t taken;	 /* futex; set when the new thread has read all of it */
	uint32_t owners; /* how many threads may still look at it; 0: free */
};

/* Each entry has two owners, creator and new thread, the last of which frees it: no creator has to
 * wait for a thread that gets no CPU. Accepted: entries in use at a fork() stay in use in the
 * child. */
static struct handed handed[HANDED_MOST];

static bool threads_give_notice(void)
{
	const struct area_process *process = agent_state.process;

	return process && atomic_load_explicit(&process->threads, memory_order_relaxed);
}

static void count_birth(void)
{
	struct area_process *process = agent_state.process;

	if (process)
		atomic_fetch_add_explicit(&process->births, 1, memory_order_relaxed);
}

static void give_notice(void)
{
	struct area_registers registers = {0};

	registers.fs_base = agent_arch.thread_pointer();
	registers.general[insn_arch.stack_pointer] = (uintptr_t)__builtin_frame_address(0);
	agent_notice(AREA_HIT_THREAD, registers.fs_base, 0, &registers);
}

/* Tells the controller of this thread, with the registers as its function will find them; the stack
 * pointer will be a little higher. */
static bool tell_newborn(const struct beginning *beginning, struct agent_birth *birth)
{
	struct area_registers registers = {0};
	uintptr_t stack = agent_arch.stack_pointer();

	registers.pc = (uintptr_t)beginning->own.body;
	registers.fs_base = agent_arch.thread_pointer();
	registers.general[insn_arch.function_argument[0]] = (uintptr_t)beginning->own.argument;
	registers.general[insn_arch.stack_pointer] = stack - stack % 16 - sizeof(uint64_t);
	return agent_birth_tell(AREA_HIT_NEWBORN, &registers, birth);
}

/* Tells the controller of the creator, with the registers as they will be when pthread_create() has
 * returned. */
static void tell_creator(const void *noted)
{
	struct area_registers registers = {0};
	struct agent_birth birth;

	if (!agent_arch.kept(noted, &registers))
		return;
	registers.fs_base = agent_arch.thread_pointer();
	if (agent_birth_tell(AREA_HIT_CREATOR, &registers, &birth))
		agent_birth_wait(&birth);
}

static bool is_shared(const struct handed *given)
{
	return (uintptr_t)given - (uintptr_t)handed < sizeof(handed);
}

/* Takes a free entry of the table. NULL: all are in use. */
static struct handed *share(const struct beginning *beginning)
{
	for (unsigned i = 0; i < HANDED_MOST; i++) {
		uint32_t owners = 0;

		/* Acquire: pairs with let_go(). */
		if (!__atomic_compare_exchange_n(&handed[i].owners, &owners, 2, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		handed[i].beginning = *beginning;
		__atomic_store_n(&handed[i].taken, 0, __ATOMIC_RELAXED);
		return &handed[i];
	}
	return NULL;
}

static void let_go(struct handed *given, uint32_t owners)
{
	if (is_shared(given))
		__atomic_fetch_sub(&given->owners, owners, __ATOMIC_RELEASE);
}

/* Runs first in a new thread: takes over what the creator handed it, and returns the function with
 * which the thread goes on. */
__attribute__((used, visibility("hidden"))) struct agent_begun thread_begin(struct handed *given)
{
	struct beginning beginning = given->beginning;
	struct agent_birth birth = {0};

	/* Told before the creator goes on: when the creator has told of itself, the controller
	 * knows of both. */
	beginning.told = beginning.told && tell_newborn(&beginning, &birth);

	/* Release: pairs with the creator's acquire. From here on `given`, if it is on the
	 * creator's stack, is gone. */
	__atomic_store_n(&given->taken, 1, __ATOMIC_RELEASE);
	raw_futex(&given->taken, FUTEX_WAKE_PRIVATE, 1, NULL);
	let_go(given, 1);
	if (beginning.blocked)
		mask_begin_blocked();
	if (beginning.notice)
		give_notice();
	if (beginning.told)
		agent_birth_wait(&birth);
	return beginning.own;
}

/* The function that threads of both kinds (POSIX's and C11's) begin with: they differ only in what
 * their functions return. */
void *thread_entry(void *argument) __attribute__((visibility("hidden")));
AGENT_ENTRY_BEGIN(thread_entry, thread_begin);

/* Gets the mask that the attributes contain, which the new thread has whatever its creator's is.
 * False: they contain none. */
static bool names_mask(const pthread_attr_t *attributes, sigset_t *mask)
{
	pthread_attr_t defaults;
	bool names;

	if (attributes)
		return pthread_attr_getsigmask_np(attributes, mask) == 0;
	if (!atomic_load(&default_is_set) || pthread_getattr_default_np(&defaults))
		return false;
	names = pthread_attr_getsigmask_np(&defaults, mask) == 0;
	pthread_attr_destroy(&defaults);
	return names;
}

/* Does the new thread wish SIGTRAP to be blocked? */
static bool begins_blocked(const pthread_attr_t *attributes)
{
	sigset_t mask;

	if (mask_is_ours() && names_mask(attributes, &mask))
		return sigismember(&mask, SIGTRAP) == 1;
	return mask_is_blocked();
}

static struct beginning prepare(bool blocked, void *(*body)(void *), void *argument)
{
	return (struct beginning){.own = {body, argument},
				  .blocked = blocked,
				  .notice = threads_give_notice(),
				  .told = agent_birth_is_wanted((uintptr_t)body)};
}

static bool is_plain(const struct beginning *beginning)
{
	return !beginning->blocked && !beginning->notice && !beginning->told;
}

/* Really blocks SIGTRAP while the thread is created, if it is to begin with it blocked. Returns the
 * mask to be set again. */
static uint64_t before_creation(const struct beginning *beginning)
{
	uint64_t trap = 1ull << (SIGTRAP - 1), before = 0;

	if (beginning->blocked)
		raw_sigprocmask(SIG_BLOCK, &trap, &before);
	return before;
}

/* Hands over by an entry of the table, or, where none is free, by `own` on the creator's stack:
 * then the creator waits until the new thread has taken it, and the controller is told nothing.
 * NULL: there is nothing to hand over. */
static struct handed *hand_over(struct handed *own)
{
	struct handed *given = is_plain(&own->beginning) ? NULL : share(&own->beginning);

	if (!given && own->beginning.told) {
		agent_birth_pass();
		own->beginning.told = false;
	}
	return given || is_plain(&own->beginning) ? given : own;
}

/* Waits until the new thread has taken `given`, if that is on the creator's stack or the controller
 * is told of the thread. Returns whether it has. */
static bool wait_until_taken(struct handed *given)
{
	if (is_shared(given))
		return given->beginning.told && agent_birth_await(&given->taken);
	while (!__atomic_load_n(&given->taken, __ATOMIC_ACQUIRE))
		raw_futex(&given->taken, FUTEX_WAIT_PRIVATE, 0, NULL);
	return true;
}

static void after_creation(struct handed *given, uint64_t before, bool created, const void *noted)
{
	const bool told = given->beginning.told;
	bool taken;

	if (given->beginning.blocked)
		raw_sigprocmask(SIG_SETMASK, &before, NULL);
	if (!created) {
		let_go(given, 2);
		return;
	}
	taken = wait_until_taken(given);
	let_go(given, 1);
	if (told && taken)
		tell_creator(noted);
	else if (told)
		agent_birth_pass();
}

/* Called by the entries below, which note the registers that functions keep for their callers. */
__attribute__((used, visibility("hidden"))) int
thread_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
		      void *argument, const void *noted)
{
	struct handed own = {.beginning = prepare(begins_blocked(attributes), body, argument)};
	struct handed *given = hand_over(&own);
	uint64_t before;
	int err;

	resolve();
	count_birth();
	if (!given)
		return libc.pthread_create(thread, attributes, body, argument);
	before = before_creation(&given->beginning);
	err = libc.pthread_create(thread, attributes, thread_entry, given);
	after_creation(given, before, !err, noted);
	return err;
}

__attribute__((used, visibility("hidden"))) int
thread_thrd_create(thrd_t *thread, thrd_start_t start, void *argument, const void *unused,
		   const void *noted)
{
	struct handed own = {.beginning = prepare(begins_blocked(NULL),
						  (void *(*)(void *))(uintptr_t)start, argument)};
	struct handed *given = hand_over(&own);
	uint64_t before;
	int result;

	(void)unused; /* thrd_create() has three arguments */
	resolve();
	count_birth();
	if (!given)
		return libc.thrd_create(thread, start, argument);
	before = before_creation(&given->beginning);
	result = libc.thrd_create(thread, (thrd_start_t)(uintptr_t)thread_entry, given);
	after_creation(given, before, result == thrd_success, noted);
	return result;
}

AGENT_ENTRY_KEPT(pthread_create, thread_pthread_create);
AGENT_ENTRY_KEPT(thrd_create, thread_thrd_create);

TL_API int pthread_setattr_default_np(const pthread_attr_t *attributes)
{
	resolve();
	atomic_store(&default_is_set, true);
	return libc.pthread_setattr_default_np(attributes);
}

/* fork() without the handlers of pthread_atfork(), ours included. */
TL_API pid_t _Fork(void)
{
	pid_t child;

	resolve();
	agent_before_fork();
	child = libc._Fork();
	if (child == 0)
		agent_in_child();
	else
		agent_after_fork();
	return child;
}

/* In the creator's frame, of which a child with memory of its own has a copy. */
struct cloned {
	int (*body)(void *);
	void *argument;
};

static int begin_cloned(void *argument)
{
	struct cloned *cloned = argument;

	agent_in_child();
	return cloned->body(cloned->argument);
}

/* A child with memory of its own is watched as a forked one is; one that shares memory and signals
 * with this process, as threads once were made, belongs to this process. */
TL_API int clone(int (*body)(void *), void *stack, int flags, void *argument, ...)
{
	const int sharing = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
	struct cloned cloned = {body, argument};
	pid_t *parent, *child;
	va_list list;
	void *tls;
	int made;

	va_start(list, argument);
	parent = va_arg(list, pid_t *);
	tls = va_arg(list, void *);
	child = va_arg(list, pid_t *);
	va_end(list);
	resolve();
	if ((flags & sharing) == (CLONE_VM | CLONE_SIGHAND))
		borrower_share();
	if (flags & CLONE_VM || !agent_state.area || !body || !stack)
		return libc.clone(body, stack, flags, argument, parent, tls, child);
	agent_before_fork();
	made = libc.clone(begin_cloned, stack, flags, &cloned, parent, tls, child);
	agent_after_fork();
	return made;
}
