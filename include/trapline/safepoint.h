/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Safepoints: bring the threads of a language runtime to a stop, each at a place it declared safe.
 *
 *	tl_safepoint_open(&safepoint, &spec);
 *	…                                         in each thread:
 *	tl_safepoint_register(safepoint);
 *	place = tl_safepoint_place(safepoint);
 *	for (;;) { work(); TL_SAFEPOINT_POLL_AT(place); }
 *	…                                         in the collector:
 *	if (tl_safepoint_stop(safepoint, 1000000000) == 0) {
 *		tl_safepoint_each(safepoint, scan_roots, heap);
 *		tl_safepoint_resume(safepoint);
 *	}
 *
 * A poll is two loads and no branch, through a pointer of the thread's own. To stop a thread its
 * pointer is turned to a page that no one may read, and the fault's handler holds the thread.
 * Stopping costs no system call, only the threads that must stop fault, and no page's rights ever
 * change.
 *
 * A thread that has not asked for its place polls with TL_SAFEPOINT_POLL(), one load: a watchpoint
 * on the word that it loads is armed in the threads that must be stopped and in no other, and the
 * hit's handler holds the thread. That takes several times as long where traps are slow, as in
 * virtual machines, and one of the four slots in each such thread.
 */
#ifndef TRAPLINE_SAFEPOINT_H
#define TRAPLINE_SAFEPOINT_H

#include <trapline/event.h>
#include <ucontext.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_safepoint tl_safepoint;

/*
 * No thread has a watchpoint, or asks for one: polls are TL_SAFEPOINT_POLL_AT(), the others do not
 * stop. For machines without watchpoints, and programs that need all four slots.
 */
#define TL_SAFEPOINT_INDIRECT 1u
/* Polls stop by watchpoints alone, TL_SAFEPOINT_POLL_AT() too, and SIGSEGV is not touched. */
#define TL_SAFEPOINT_WATCHPOINT 2u

struct tl_safepoint_spec {
	size_t size;	/* sizeof(struct tl_safepoint_spec) */
	unsigned flags; /* one of the above, or 0: as each thread polls */
};

/*
 * What is known of a stopped thread. The context is where it polled (just after the load), where it
 * entered its blocking region, or where it called tl_safepoint_stop(). In the latter two it holds
 * rsp, rip and the registers that a call preserves. Changes to the context of a thread stopped at a
 * poll take effect when it resumes; others are ignored.
 */
struct tl_safepoint_thread {
	size_t size;
	pid_t tid;
	int blocking; /* 1: in a blocking region, and may be running there */
	ucontext_t *context;
	uintptr_t stack_pointer;
	uintptr_t stack_low, stack_high; /* the thread's own stack, [low, high) */
};

/* Called for each thread by tl_safepoint_each(), in the calling thread. Nonzero ends the iteration
 * and is returned. `thread` is valid during the call. */
typedef int tl_safepoint_each_fn(const struct tl_safepoint_thread *thread, void *arg);
/* Runs in the thread at its poll, in signal context; or, for a thread in a blocking region, in the
 * thread that asked, while the other cannot leave the region. It must not poll: in signal context
 * that ends the process. */
typedef void tl_safepoint_handshake_fn(const struct tl_safepoint_thread *thread, void *arg);

/* Polls: the thread stops here while the safepoint `sp` is stopped. The compiler keeps nothing of
 * memory in registers across a poll, so that a collector may move what was there. */
#define TL_SAFEPOINT_POLL(sp)                                                 \
	do {                                                                  \
		uint32_t tl_safepoint_word_;                                  \
		__asm__ volatile("movl %1, %0"                                \
				 : "=r"(tl_safepoint_word_)                   \
				 : "m"(*(const uint32_t *)(const void *)(sp)) \
				 : "memory");                                 \
		(void)tl_safepoint_word_;                                     \
	} while (0)

/*
 * The same by way of `place`, which the calling thread got from tl_safepoint_place(): in a register
 * or a structure of its own. SIGSEGV must not be blocked at such a poll: the kernel ends a process
 * that faults with its signal blocked.
 */
#define TL_SAFEPOINT_POLL_AT(place)                         \
	do {                                                \
		uintptr_t tl_safepoint_word_;               \
		__asm__ volatile("movq %1, %0\n\t"          \
				 "movl (%0), %k0"           \
				 : "=r"(tl_safepoint_word_) \
				 : "m"(*(place))            \
				 : "memory");               \
		(void)tl_safepoint_word_;                   \
	} while (0)

/* Opens a safepoint: 0, and *safepoint is the caller's until tl_safepoint_close(). With
 * TL_SAFEPOINT_INDIRECT, -ENOSPC: 64 safepoints are open that may stop by faults; -EBUSY: SIGSEGV
 * cannot be had. Without that flag threads keep to their watchpoints in these two cases. */
TL_API int tl_safepoint_open(tl_safepoint **safepoint, const struct tl_safepoint_spec *spec);
/* Frees the safepoint. 0, or -EBUSY while a thread is registered or the safepoint is stopped. */
TL_API int tl_safepoint_close(tl_safepoint *safepoint);

/*
 * The calling thread takes part from now on, with a watchpoint of its own until the first stop
 * after it has asked for its place. While the safepoint is stopped it waits until resume. -EALREADY
 * if it does already, -EDEADLK if the thread itself has stopped the others, and what
 * tl_event_open() returns; -EINVAL: the safepoint is indirect and the
 * thread blocks SIGSEGV. A thread that ends leaves by itself.
 */
TL_API int tl_safepoint_register(tl_safepoint *safepoint);
/* The pointer through which the calling thread polls (TL_SAFEPOINT_POLL_AT()) from now on, until it
 * leaves; NULL if it takes no part. The thread may keep it; others may not poll through it, and
 * TL_SAFEPOINT_POLL() no longer stops it. Where SIGSEGV is blocked the thread keeps its watchpoint,
 * which stops it there too. */
TL_API const uint32_t *const volatile *tl_safepoint_place(tl_safepoint *safepoint);
/* The calling thread takes part no longer. 0, -ENOENT if it takes no part; -EBUSY in the thread
 * that stopped the safepoint. */
TL_API int tl_safepoint_leave(tl_safepoint *safepoint);

/*
 * A region in which the thread counts as stopped: around system calls that may block and code that
 * touches nothing of the heap. Leaving it waits while the safepoint is stopped. They nest.
 * Entering costs some nanoseconds. -ENOENT if the thread takes no part.
 */
TL_API int tl_safepoint_enter_blocking(tl_safepoint *safepoint);
/* Leaves the innermost blocking region. 0, -ENOENT as above; -EINVAL: the thread is in no region.
 */
TL_API int tl_safepoint_leave_blocking(tl_safepoint *safepoint);

/*
 * Every registered thread but the caller is at a poll or in a blocking region when it returns 0,
 * and stays there until tl_safepoint_resume() by the same thread. The caller may be registered and
 * counts as stopped while it waits. -ETIMEDOUT: nothing is left stopped, and
 * tl_safepoint_laggard() names the thread that did not poll. -EDEADLK: the caller has stopped it
 * already.
 */
TL_API int tl_safepoint_stop(tl_safepoint *safepoint, uint64_t timeout_ns);
/* Lets all threads go on. 0, or -EPERM if the caller has not stopped the safepoint. */
TL_API int tl_safepoint_resume(tl_safepoint *safepoint);
/* Id of the thread for which the last stop or handshake of the process timed out; 0: there is none,
 * or another stopper was waited for. */
TL_API pid_t tl_safepoint_laggard(const tl_safepoint *safepoint);
/* Calls `fn` for every registered thread, the caller included. 0, what `fn` returned if not 0, or
 * -EPERM if the caller has not stopped the safepoint. */
TL_API int tl_safepoint_each(tl_safepoint *safepoint, tl_safepoint_each_fn *fn, void *arg);
/*
 * Run `fn` once for each registered thread, each at its own poll; none waits for another. On
 * -ETIMEDOUT it has run for some threads and will run for no more.
 */
TL_API int tl_safepoint_handshake(tl_safepoint *safepoint, tl_safepoint_handshake_fn *fn, void *arg,
				  uint64_t timeout_ns);

/*
 * fork(): in the child no thread is registered and the safepoint is not stopped; the threads that
 * are to take part register again.
 */

#ifdef __cplusplus
}
#endif
#endif
