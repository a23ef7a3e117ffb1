/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: watch memory, break on code, or count something, in one thread or a whole process, and be
 * called back in the very thread that did it, before its next instruction.
 *
 * Functions return 0 or a value >= 0 on success and -errno on failure; tl_explain() turns that into
 * one sentence. Unless a comment says otherwise a function may be called from any thread, also from
 * within a tl_hit_fn, and is not a cancellation point.
 *
 * Kernel source of the mechanism: perf_event_open(2), perf_event_attr.sigtrap (Linux >= 5.13).
 */
#ifndef TRAPLINE_EVENT_H
#define TRAPLINE_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TL_API
#define TL_API __attribute__((visibility("default")))
#endif

/* Kinds of access. The first three are asked for in tl_spec.access and told by tl_hit_access(); the
 * others are only told. A read-modify-write is TL_READ | TL_WRITE. */
#define TL_READ 0x01u
#define TL_WRITE 0x02u
#define TL_EXEC 0x04u
#define TL_ATOMIC 0x10u	 /* one locked read-modify-write (LOCK prefix, or xchg with memory) */
#define TL_KERNEL 0x20u	 /* made by the kernel on the thread's behalf (a system call) */
#define TL_LATE 0x40u	 /* delivered later than the access: SIGTRAP was blocked then */
#define TL_GUESSED 0x80u /* instruction, address or kind could not be known for sure */

enum tl_scope {
	TL_THREAD,  /* the calling thread alone, none of its children */
	TL_PROCESS, /* every thread of the process, running now or created later */
	TL_TREE,    /* TL_PROCESS and every descendant it fork()s from now on */
	TL_THREADS, /* the threads named in tl_spec.tids, none of their children */
};

/* What a counter counts. The unit of tl_spec.period is the counter's. */
enum tl_counter {
	TL_CPU_TIME = 1,     /* nanoseconds of CPU time */
	TL_PAGE_FAULTS,	     /* page faults, minor and major */
	TL_CONTEXT_SWITCHES, /* needs the right to see the kernel (perf_event_paranoid <= 1) */
	TL_MIGRATIONS,	     /* moves between CPUs; same right */
	TL_CYCLES,	     /* the rest need a hardware counter: -EOPNOTSUPP where there is none */
	TL_INSTRUCTIONS,
	TL_CACHE_MISSES,
	TL_BRANCH_MISSES,
};

/* tl_spec.flags */
#define TL_DISABLED 0x1u       /* open it silent; tl_event_enable() starts it */
#define TL_INCLUDE_KERNEL 0x2u /* also what the kernel does for the thread; needs paranoid <= 1 */
#define TL_REGION 0x4u	       /* use a region (protection keys) even if slots would do */
#define TL_BEST_EFFORT 0x8u    /* threads that cannot be covered are counted, not an error */
/* Do not look at the instruction, for callbacks that only want to know that the thread was there:
 * tl_hit_pc() is where it resumes, the address and the access are those asked for, marked
 * TL_GUESSED. Cheaper by far where hits are rare and code is cold. */
#define TL_UNDECODED 0x10u

struct tl_spec {
	size_t size;	  /* sizeof(struct tl_spec) */
	const void *addr; /* data or code address */
	size_t len;	  /* bytes: up to 8 on hardware slots, more is a region; 0 for code */
	unsigned access;  /* TL_READ | TL_WRITE, or TL_EXEC; 0 for a counter */
	unsigned counter; /* enum tl_counter; 0 for memory or code */
	uint64_t period;  /* of a counter, in its unit: one hit each `period` */
	enum tl_scope scope;
	const pid_t
		*tids; /* for TL_THREADS: kernel thread ids of this process, read during the call */
	size_t ntids;
	unsigned flags; /* TL_DISABLED, TL_INCLUDE_KERNEL, … */
	unsigned limit; /* hits, process-wide, until silence; 0: no limit */
};

typedef struct tl_event tl_event;
typedef struct tl_hit tl_hit;

/*
 * Runs in the thread whose access was a hit, on its stack (or its alternate signal stack), with
 * every signal blocked. `hit` ends with the handler. It may call any function of this header and of
 * <trapline/hit.h>, leave by siglongjmp(), and touch the watched memory (which is not reported).
 * Otherwise the rules of signal handlers hold: see signal-safety(7).
 */
typedef void tl_hit_fn(tl_hit *hit, void *arg);

/*
 * Opens an event. On success *event is owned by the caller until tl_event_close(). Hits may be
 * delivered before it returns. `spec`, and the ids that it points to, are only read during the
 * call. `fn` is called for each hit with `arg`, which stays the caller's. Not async-signal-safe for
 * TL_PROCESS and TL_TREE when other threads exist (it lists /proc/self/task), though it may be
 * called from a tl_hit_fn.
 *
 * -EINVAL   the spec contradicts itself (tl_explain tells the rules), or event or fn is NULL
 * -E2BIG    spec->size is larger than this library knows and its tail is not zero
 * -ENOSPC   no hardware slot is left in some covered thread
 * -EACCES, -EPERM  the kernel refuses; see `trapline doctor`
 * -EOPNOTSUPP      this machine has no such hardware
 * -ENOTSUP  (equal on Linux) a region was asked for and the CPU has no protection keys
 * -ENOMEM   some page of a region is not mapped
 * -EFAULT   a region shares a page with the end of this thread's stack
 * -EBUSY    a region: some thread is stopped, or blocks every signal there is, or threads
 *           come and go too fast to be listed
 * -ESRCH    a thread of spec->tids does not exist
 * -EMFILE   one descriptor for each covered thread is needed; raise `ulimit -Hn`
 */
TL_API int tl_event_open(tl_event **event, const struct tl_spec *spec, tl_hit_fn *fn, void *arg);

/*
 * Watches another place with the same event, in every covered thread, children included. `addr`,
 * `len`: as in tl_spec; `access` 0 keeps the kind of access. When it returns 0, no hit of the old
 * address is delivered as a hit of the new one. Otherwise -errno, as of tl_event_open(), and the
 * event watches what it did before.
 */
TL_API int tl_event_move(tl_event *event, const void *addr, size_t len, unsigned access);

/*
 * Enable, disable, rearm and move return -EPERM in a forked child (unless the event is a region):
 * the kernel's events are its parent's. They, tl_event_hits() and tl_event_close() expect an event
 * that is not closed.
 *
 * Begins, or begins again, to deliver hits. 0 or -errno.
 */
TL_API int tl_event_enable(tl_event *event);
/* When it returns, no access made from now on is a hit; handlers that are already running may still
 * run. 0 or -errno. */
TL_API int tl_event_disable(tl_event *event);
/* Delivers `hits` more (>= 1; 0 is -EINVAL), all threads together, and then silences the event.
 * Also gives a limit to an event that had none. 0 or -errno. */
TL_API int tl_event_rearm(tl_event *event, unsigned hits);
/* Number of hits delivered so far, in all threads. Async-signal-safe. */
TL_API uint64_t tl_event_hits(const tl_event *event);
/*
 * When it returns, no handler of the event runs or will run, and the event is gone. Called from a
 * handler of that same event it waits for the other threads' handlers only; the caller must not
 * touch the event afterwards. A handler that waits in tl_event_close() counts as finished, so two
 * handlers that close each other's events do not deadlock. 0 or -errno.
 */
TL_API int tl_event_close(tl_event *event);

#ifdef __cplusplus
}
#endif
#endif
