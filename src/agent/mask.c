/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that blocks SIGTRAP would turn every hit into a late one. So SIGTRAP is not really
 * blocked: the program's wish is kept for each thread and shown to it, and its own SIGTRAP, should
 * one come while it is "blocked", waits here until it is unblocked.
 *
 * A program that waits for SIGTRAP with sigwait() or a signalfd needs the kernel to keep it
 * pending. From its first such call on masks are what the program says (`honest`): threads that had
 * SIGTRAP "blocked" become really so when one reaches them, and hits in such threads are late.
 * Accepted.
 */
#include "agent/state.h"

#include "base/syscall.h"
#include "trap/ownership.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/signalfd.h>
#include <trapline/event.h>
#include <ucontext.h>

static __thread bool blocked __attribute__((tls_model("initial-exec")));
static __thread bool has_pending __attribute__((tls_model("initial-exec")));
static __thread siginfo_t pending __attribute__((tls_model("initial-exec")));
static _Atomic bool honest;

/* One sent to the process, not to a thread: any thread may take it. */
enum { PROCESS_NONE, PROCESS_FILLING, PROCESS_PENDING };
static _Atomic int process_state;
static siginfo_t process_pending;

static struct {
	int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
	int (*sigwait)(const sigset_t *, int *);
	int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
	int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
	int (*signalfd)(int, const sigset_t *, int);
} libc;

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor)) static void resolve(void)
{
	if (libc.pthread_sigmask)
		return;
	RESOLVE(sigwait);
	RESOLVE(sigwaitinfo);
	RESOLVE(sigtimedwait);
	RESOLVE(signalfd);
	RESOLVE(pthread_sigmask);
}

static bool is_active(void)
{
	return agent_state.area && !atomic_load_explicit(&honest, memory_order_relaxed);
}

static void keep_for_process(const siginfo_t *info)
{
	int none = PROCESS_NONE;

	if (!atomic_compare_exchange_strong(&process_state, &none, PROCESS_FILLING))
		return;
	process_pending = *info;
	atomic_store(&process_state, PROCESS_PENDING);
}

/* Only the first thread may repeat what kill() said of its sender (do_rt_sigqueueinfo() compares
 * thread ids). Accepted: from another thread the sender becomes this process. */
static void send_to_process(siginfo_t *info)
{
	if (raw_syscall6(SYS_rt_sigqueueinfo, raw_getpid(), SIGTRAP, (long)info, 0, 0, 0))
		raw_syscall3(SYS_kill, raw_getpid(), SIGTRAP, 0);
}

bool mask_keep(siginfo_t *info, ucontext_t *context)
{
	if (!blocked)
		return false;
	if (atomic_load(&honest)) {
		/* From here on really blocked, so that sending it again finds who waits for it. */
		sigaddset(&context->uc_sigmask, SIGTRAP);
		send_to_process(info);
		return true;
	}
	/* As the kernel: a second one of the same number is lost. */
	if (info->si_code != SI_TKILL) {
		keep_for_process(info);
		return true;
	}
	if (!has_pending)
		pending = *info;
	has_pending = true;
	return true;
}

static void release_pending(void)
{
	int full = PROCESS_PENDING;
	siginfo_t info;

	if (atomic_compare_exchange_strong(&process_state, &full, PROCESS_FILLING)) {
		info = process_pending;
		atomic_store(&process_state, PROCESS_NONE);
		send_to_process(&info);
	}
	if (!has_pending)
		return;
	info = pending;
	has_pending = false;
	signal_requeue(SIGTRAP, &info);
}

static void note_wish(int how, bool member)
{
	if (how == SIG_BLOCK)
		blocked = blocked || member;
	else if (how == SIG_UNBLOCK)
		blocked = blocked && !member;
	else
		blocked = member;
}

/* Returns an error number, as pthread_sigmask() does. */
static int change_mask(int how, const sigset_t *set, sigset_t *old)
{
	bool before = blocked;
	sigset_t real;
	int err;

	resolve();
	if (!is_active())
		return libc.pthread_sigmask(how, set, old);
	if (set) {
		real = *set;
		if (how != SIG_UNBLOCK)
			sigdelset(&real, SIGTRAP);
	}
	err = libc.pthread_sigmask(how, set ? &real : NULL, old);
	if (err)
		return err;
	if (set)
		note_wish(how, sigismember(set, SIGTRAP) == 1);
	if (old && before)
		sigaddset(old, SIGTRAP);
	if (before && !blocked)
		release_pending();
	return 0;
}

TL_API int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return change_mask(how, set, old);
}

TL_API int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int err = change_mask(how, set, old);

	if (!err)
		return 0;
	errno = err;
	return -1;
}

bool mask_is_blocked(void)
{
	return blocked && is_active();
}

void mask_begin_blocked(void)
{
	uint64_t trap = 1ull << (SIGTRAP - 1);

	blocked = true;
	if (is_active())
		raw_sigprocmask(SIG_UNBLOCK, &trap, NULL);
}

/* ------------------------------------------------------------------------------------------- */
/* Waiting for SIGTRAP */

static void become_honest(const sigset_t *set)
{
	uint64_t trap = 1ull << (SIGTRAP - 1);

	resolve();
	if (!agent_state.area || sigismember(set, SIGTRAP) != 1)
		return;
	atomic_store(&honest, true);
	if (blocked)
		raw_sigprocmask(SIG_BLOCK, &trap, NULL);
	release_pending();
}

/* A hit in a thread that really blocks SIGTRAP waits too; it is none of the program's business. */
static bool is_hit(const siginfo_t *info)
{
	uint64_t tag;

	memcpy(&tag, (const char *)info + AGENT_SIGINFO_DATA, sizeof(tag));
	return info->si_signo == SIGTRAP && info->si_code == AGENT_TRAP_PERF &&
	       area_tag_is_ours(tag);
}

static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	uint64_t until = 0, now;
	struct timespec left;
	siginfo_t own;
	int result;

	become_honest(set);
	if (!info)
		info = &own;
	if (timeout)
		until = agent_now() + (uint64_t)timeout->tv_sec * 1000000000u +
			(uint64_t)timeout->tv_nsec;
	for (;;) {
		result = timeout ? libc.sigtimedwait(set, info, timeout)
				 : libc.sigwaitinfo(set, info);
		if (result < 0 || !is_hit(info))
			return result;
		now = agent_now();
		now = timeout && until > now ? until - now : 0;
		left.tv_sec = (time_t)(now / 1000000000u);
		left.tv_nsec = (long)(now % 1000000000u);
		timeout = timeout ? &left : NULL;
	}
}

TL_API int sigwait(const sigset_t *set, int *number)
{
	siginfo_t info;
	int result;

	resolve();
	if (!agent_state.area || sigismember(set, SIGTRAP) != 1)
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

/* What the program reads from the descriptor cannot be sorted here: watching ends. */
TL_API int signalfd(int fd, const sigset_t *set, int flags)
{
	become_honest(set);
	if (agent_state.area && sigismember(set, SIGTRAP) == 1)
		agent_withdraw();
	return libc.signalfd(fd, set, flags);
}
