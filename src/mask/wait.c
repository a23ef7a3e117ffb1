/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for SIGTRAP, with sigwait() and its kin or by opening their mask for the time
 * of a call (sigsuspend(), ppoll(), …). While they wait it is really blocked in them, or really
 * open, and what mask.c has kept is theirs.
 */
#include "agent/readable.h"
#include "agent/state.h"
#include "base/perf_siginfo.h"
#include "base/syscall.h"
#include "mask/mask.h"
#include "mask/nudge.h"
#include "mask/wait.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <trapline/event.h>
#include <unwind.h>

#define TRAP_BIT (1ull << (SIGTRAP - 1))

static struct {
	int (*sigwait)(const sigset_t *, int *);
	int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
	int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
	int (*sigpending)(sigset_t *);
	int (*sigsuspend)(const sigset_t *);
	int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *,
		       const sigset_t *);
	int (*__ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *,
			   size_t);
	int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
	int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *,
			    const sigset_t *);
} libc;

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor)) static void resolve(void)
{
	if (libc.sigwait)
		return;
	RESOLVE(sigwaitinfo);
	RESOLVE(sigtimedwait);
	RESOLVE(sigpending);
	RESOLVE(sigsuspend);
	RESOLVE(ppoll);
	RESOLVE(pselect);
	RESOLVE(__ppoll_chk);
	RESOLVE(epoll_pwait);
	RESOLVE(epoll_pwait2);
	RESOLVE(sigwait);
}

/* ------------------------------------------------------------------------------------------- */
/* Threads that are cancelled, or end in a handler, as they wait */

/* What the innermost waiting call of this thread has changed. */
struct waiting {
	bool blocks; /* SIGTRAP is really blocked */
	bool opens;  /* the thread's wish is open for the call */
};
static __thread struct waiting waiting __attribute__((tls_model("initial-exec")));

void wait_left(void)
{
	waiting = (struct waiting){0};
	nudge_left();
}

/* Called when the thread is cancelled or ends, before its own cleanup. A nudge that is pending in
 * it is passed on to another thread. Where the call has begun to let SIGTRAP in, the mask stays as
 * it is, as it would without us. Accepted: of two nested waiting calls the outer one leaves SIGTRAP
 * blocked. */
static void abandon(void)
{
	uint64_t trap = TRAP_BIT, mask = 0;
	struct waiting left = waiting;

	wait_left();
	if (left.blocks)
		raw_sigprocmask(SIG_BLOCK, NULL, &mask);
	if (!(mask & TRAP_BIT))
		return;
	if (left.opens)
		mask_wish(true);
	raw_sigprocmask(SIG_UNBLOCK, &trap, NULL);
}

/*
 * A personality routine, which unwinding runs for each frame that names one (Itanium C++ ABI,
 * exception handling, level I). Unlike pthread_cleanup_push() it registers nothing that a handler's
 * jump out of the call would leave behind.
 */
_Unwind_Reason_Code wait_unwound(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
				 struct _Unwind_Exception *exception,
				 struct _Unwind_Context *context);
__attribute__((used, visibility("hidden"))) _Unwind_Reason_Code
wait_unwound(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	     struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	(void)version;
	(void)class;
	(void)exception;
	(void)context;
	if (actions & _UA_CLEANUP_PHASE)
		abandon();
	return _URC_CONTINUE_UNWIND;
}

/* To be written in a function that waits: names the personality. 0x1b: the address is relative to
 * its own place, 4 bytes (LSB, DWARF extensions). */
#define ABANDONED_WHEN_UNWOUND __asm__ volatile(".cfi_personality 0x1b, wait_unwound")

/* ------------------------------------------------------------------------------------------- */
/* Taking SIGTRAP without a handler */

/* A hit of ours in a thread that really blocks SIGTRAP is pending, too, and is not for the
 * program. */
static bool is_hit(const siginfo_t *info)
{
	uint64_t tag;

	memcpy(&tag, (const char *)info + offsetof(struct perf_siginfo, data), sizeof(tag));
	return info->si_code == PERF_SIGINFO_CODE && area_tag_is_ours(tag);
}

static bool is_the_programs(const siginfo_t *info)
{
	return info->si_signo != SIGTRAP || (!is_hit(info) && !nudge_is(info));
}

/* When the timeout ends, however late that is. Wrong timeouts are left for the kernel to refuse. */
static uint64_t end_of(const struct timespec *timeout)
{
	uint64_t now = agent_now(), seconds = (uint64_t)timeout->tv_sec;

	if (seconds >= (INT64_MAX - now) / 1000000000u)
		return INT64_MAX;
	return now + seconds * 1000000000u + (uint64_t)timeout->tv_nsec;
}

/* glibc's functions tell a signal that a thread was sent by its id (raise(3)) as sent to the
 * process (sysdeps/unix/sysv/linux/sigtimedwait.c); so does what was kept. */
static bool take_kept(siginfo_t *info)
{
	if (!mask_take_kept(info))
		return false;
	if (info->si_code == SI_TKILL)
		info->si_code = SI_USER;
	return true;
}

static int wait_really(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	uint64_t until = 0, now;
	struct timespec left;
	int result;

	if (timeout)
		until = end_of(timeout);
	for (;;) {
		if (take_kept(info))
			return SIGTRAP;
		result = timeout ? libc.sigtimedwait(set, info, timeout)
				 : libc.sigwaitinfo(set, info);
		if (result < 0 || is_the_programs(info))
			return result;
		now = agent_now();
		now = timeout && until > now ? until - now : 0;
		left.tv_sec = (time_t)(now / 1000000000u);
		left.tv_nsec = (long)(now % 1000000000u);
		timeout = timeout ? &left : NULL;
	}
}

/* Does sigwaitinfo(2) and its like. Arguments that the kernel refuses are passed to it
 * unchanged. */
static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	uint64_t trap = TRAP_BIT, before;
	const struct waiting outer = waiting;
	struct timespec given;
	siginfo_t own;
	int place, result, err;

	resolve();
	if (!mask_is_kept() || !readable_has_signal(set, SIGTRAP) ||
	    (timeout && readable_copy(&given, timeout, sizeof(given)) != sizeof(given)))
		return timeout ? libc.sigtimedwait(set, info, timeout)
			       : libc.sigwaitinfo(set, info);
	ABANDONED_WHEN_UNWOUND;
	raw_sigprocmask(SIG_BLOCK, &trap, &before);
	waiting = (struct waiting){.blocks = !(before & TRAP_BIT)};
	place = nudge_enter();
	result = wait_really(set, &own, timeout ? &given : NULL);
	err = errno;
	/* The kernel writes `info` after it has taken the signal, so the signal is gone even on
	 * EFAULT. */
	if (result > 0 && info && readable_is_writable(info, sizeof(*info))) {
		*info = own;
	} else if (result > 0 && info) {
		result = -1;
		err = EFAULT;
	}
	nudge_leave(place);
	waiting = outer;
	raw_sigprocmask(SIG_SETMASK, &before, NULL);
	errno = err;
	return result;
}

TL_API int sigwait(const sigset_t *set, int *number)
{
	siginfo_t info;
	int result;

	resolve();
	if (!mask_is_kept() || !readable_has_signal(set, SIGTRAP))
		return libc.sigwait(set, number);
	do
		result = wait_for(set, &info, NULL);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return errno;
	*number = result;
	return 0;
}

TL_API int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return wait_for(set, info, NULL);
}

TL_API int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	return wait_for(set, info, timeout);
}

TL_API int sigpending(sigset_t *set)
{
	int result;

	resolve();
	result = libc.sigpending(set);
	if (result == 0 && mask_is_blocked() && mask_has_kept())
		sigaddset(set, SIGTRAP);
	return result;
}

/* ------------------------------------------------------------------------------------------- */
/* Masks for the time of a call */

struct opening {
	bool changes; /* the call changes the mask of a thread that has SIGTRAP blocked, … */
	bool open;    /* … and lets it in */
	struct mask_opening mask;
	struct waiting outer;
	int place;
};

static struct opening begin(const sigset_t *mask)
{
	struct opening opening = {.changes = mask && mask_is_blocked()};
	uint64_t bits;

	resolve();
	if (opening.changes && readable_copy(&bits, mask, sizeof(bits)) != sizeof(bits))
		opening.changes = false;
	opening.open = opening.changes && !(bits & TRAP_BIT);
	if (opening.open) {
		opening.outer = waiting;
		/* SIGTRAP is really blocked before the thread enters itself: a nudge that finds it
		 * open takes the thread's place away. */
		mask_open(&opening.mask);
		waiting =
			(struct waiting){.blocks = !(opening.mask.mask & TRAP_BIT), .opens = true};
		opening.place = nudge_enter();
		/* A nudge rather than the kept signal itself, which would be lost where a nudge is
		 * pending already. */
		if (mask_has_kept())
			nudge_this();
	} else if (opening.changes) {
		mask_replaced(&opening.mask);
	}
	return opening;
}

static void end(const struct opening *opening)
{
	if (opening->open) {
		nudge_leave(opening->place);
		waiting = opening->outer;
		mask_close(&opening->mask);
	} else if (opening->changes) {
		mask_restored(&opening->mask);
	}
}

TL_API int sigsuspend(const sigset_t *mask)
{
	struct opening opening = begin(mask);
	int result;

	ABANDONED_WHEN_UNWOUND;
	result = libc.sigsuspend(mask);
	end(&opening);
	return result;
}

TL_API int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	struct opening opening = begin(mask);
	int result;

	ABANDONED_WHEN_UNWOUND;
	result = libc.ppoll(descriptors, count, timeout, mask);
	end(&opening);
	return result;
}

TL_API int pselect(int count, fd_set *reads, fd_set *writes, fd_set *exceptions,
		   const struct timespec *timeout, const sigset_t *mask)
{
	struct opening opening = begin(mask);
	int result;

	ABANDONED_WHEN_UNWOUND;
	result = libc.pselect(count, reads, writes, exceptions, timeout, mask);
	end(&opening);
	return result;
}

TL_API int epoll_pwait(int descriptor, struct epoll_event *events, int count, int timeout,
		       const sigset_t *mask)
{
	struct opening opening = begin(mask);
	int result;

	ABANDONED_WHEN_UNWOUND;
	result = libc.epoll_pwait(descriptor, events, count, timeout, mask);
	end(&opening);
	return result;
}

TL_API int epoll_pwait2(int descriptor, struct epoll_event *events, int count,
			const struct timespec *timeout, const sigset_t *mask)
{
	struct opening opening = begin(mask);
	int result;

	ABANDONED_WHEN_UNWOUND;
	result = libc.epoll_pwait2(descriptor, events, count, timeout, mask);
	end(&opening);
	return result;
}

/* ppoll() of programs that are built with _FORTIFY_SOURCE. */
TL_API int __ppoll_chk(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout,
		       const sigset_t *mask, size_t size);
int __ppoll_chk(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t size)
{
	struct opening opening = begin(mask);
	int result;

	ABANDONED_WHEN_UNWOUND;
	result = libc.__ppoll_chk(descriptors, count, timeout, mask, size);
	end(&opening);
	return result;
}
