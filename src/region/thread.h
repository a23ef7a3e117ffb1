/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What regions keep of each thread. A covered thread's system calls are dispatched to us (Syscall
 * User Dispatch: Linux, Documentation/admin-guide/syscall-user-dispatch.rst), and it never blocks
 * SIGSEGV or SIGSYS: the kernel kills a thread that faults with its signal blocked.
 */
#ifndef REGION_THREAD_H
#define REGION_THREAD_H

#include "region/key.h"
#include "region/stub.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

#define SIGNAL_BIT(signal) (1ull << ((signal)-1))
#define PROTECTED_SIGNALS (SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGSYS))
/* A fault with its signal blocked is death: no handler of ours blocks these. */
#define FAULT_SIGNALS \
	(PROTECTED_SIGNALS | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGILL))

#define SELECTOR_ALLOW 0 /* SYSCALL_DISPATCH_FILTER_ALLOW */
#define SELECTOR_BLOCK 1 /* SYSCALL_DISPATCH_FILTER_BLOCK */

struct region_thread {
	volatile uint8_t selector; /* read by the kernel at every system call of the thread */
	uint8_t covered;	   /* dispatching is on */
	uint8_t forked;		   /* first thing of a fork()ed child: see to the regions it has */
	uint64_t hidden; /* those of PROTECTED_SIGNALS that the program thinks it blocks */
};

_Static_assert(offsetof(struct region_thread, selector) == THREAD_SELECTOR &&
		       offsetof(struct region_thread, covered) == THREAD_COVERED &&
		       offsetof(struct region_thread, forked) == THREAD_FORKED &&
		       offsetof(struct region_thread, hidden) == THREAD_HIDDEN,
	       "region/stub.S knows the layout");

extern __thread struct region_thread region_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Dispatching ends, or has ended, in all threads. Set before they are told. */
extern uint8_t region_dispatch_over __attribute__((visibility("hidden")));

/* The selector that was before. Told meanwhile, this thread sees the flag after its store, and told
 * later it is made to allow. */
static inline void region_selector_restore(uint8_t selector)
{
	region_thread.selector = selector;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&region_dispatch_over, __ATOMIC_ACQUIRE))
		region_thread.selector = SELECTOR_ALLOW;
}

/*
 * A handler of ours: every key open, its own system calls not dispatched. A callback runs as the
 * program does, so that it may be left by longjmp() at any point.
 */
struct region_guard {
	uint32_t rights;
	uint8_t selector;
};

static inline struct region_guard region_guard_enter(uint32_t rights)
{
	struct region_guard guard = {rights, region_thread.selector};

	region_thread.selector = SELECTOR_ALLOW;
	return guard;
}

/* The rights come back with the interrupted context. */
static inline void region_guard_leave(struct region_guard guard)
{
	region_selector_restore(guard.selector);
}

static inline void region_callback_begin(struct region_guard guard)
{
	region_selector_restore(guard.selector);
	region_rights_write(guard.rights);
}

/* The key stays closed: what is left to do may fault, and be stepped, like the callback. */
static inline void region_callback_end(void)
{
	region_thread.selector = SELECTOR_ALLOW;
}

static inline uint64_t saved_mask(const ucontext_t *context)
{
	uint64_t mask;

	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	return mask;
}

static inline void set_saved_mask(ucontext_t *context, uint64_t mask)
{
	memcpy(&context->uc_sigmask, &mask, sizeof(mask));
}

/* A mask that the program wants, without the signals it must not block. */
static inline uint64_t region_thread_filter_mask(uint64_t wanted)
{
	region_thread.hidden = wanted & PROTECTED_SIGNALS;
	return wanted & ~PROTECTED_SIGNALS;
}

/* The code at pc is a system call's stub. */
static inline bool region_thread_owns_code(uintptr_t pc)
{
	return pc >= (uintptr_t)region_stub_begin && pc <= (uintptr_t)region_stub_reported;
}

/* Take SIGSEGV and SIGSYS. 0 or -errno. */
int region_thread_install(void);

/* Pass on a SIGSEGV or SIGSYS that is the program's own, as the program would have got it. */
void region_thread_chain(int signal, siginfo_t *info, ucontext_t *context);

/* Cover every thread of the process. 0; -EBUSY: some thread would not answer (it is stopped, or
 * blocks even libc's own signals). Every signal is blocked and the regions' lock is held; this
 * thread's own calls pass until its selector says otherwise. */
int region_thread_cover_all(void);

/* The opposite, for good: no region is left, and no call of any thread is dispatched to us any
 * more. The program has the signals. Under the same conditions; false: some thread would not
 * answer, and all stays as it was. */
bool region_thread_leave_all(void);

/* No region is open: let this thread's calls pass again. */
void region_thread_uncover(ucontext_t *context, struct region_guard *guard);

/* Before a context that a handler returns to: it may date from before the thread was covered. */
static inline void region_thread_clean(ucontext_t *context)
{
	uint64_t mask = saved_mask(context);

	if (region_thread.covered && region_thread.selector == SELECTOR_BLOCK &&
	    mask & PROTECTED_SIGNALS)
		set_saved_mask(context, region_thread_filter_mask(mask));
}

/* The program's masks of its handlers, as far as they are hidden from the kernel. */
struct kernel_action {
	uintptr_t handler;
	uint64_t flags;
	uintptr_t restorer;
	uint64_t mask;
};

void region_thread_filter_action(int signal, struct kernel_action *action);
uint64_t region_thread_hidden_action(int signal);

/* A handler without which covered threads die would be replaced by another. */
bool region_thread_needs(int signal, const struct kernel_action *replacement);

#endif
