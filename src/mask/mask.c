/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that blocks SIGTRAP would turn every hit into a late one. So SIGTRAP is not really
 * blocked: the program's wish is kept for each thread and shown to it, and its own SIGTRAP, should
 * one come while it is "blocked", waits here until it is unblocked.
 *
 * Threads that wait for SIGTRAP are served from there too: src/mask/wait.c. A signalfd needs the
 * kernel to keep it pending: watching ends, and from then on masks are what the program says
 * (`honest`); threads that had SIGTRAP "blocked" become really so when one reaches them.
 *
 * A child that borrows this memory (src/signal/borrower.h) has its mask from the kernel alone.
 * Where its parent has SIGTRAP "blocked", it becomes really so in the child before anything looks
 * at it or changes it; which child has done so is noted in `real_in`, and what the parent wishes
 * stays.
 *
 * A handler's return restores the kernel's mask, of which nobody tells us. What was really blocked
 * beside SIGTRAP when it was wished is kept (`beside`): once one of those is open though no call
 * opened it, the handler that wished has returned, and the wish is over (zsh's blocks all signals
 * and leaves the rest to its return).
 *
 * Accepted: a handler that unblocks SIGTRAP where it was "blocked" leaves it so when it returns,
 * and one kept while a handler had it "blocked" comes at the next look at the mask, not at the
 * return. One sent to the process while some threads have it "blocked" and others not may wait
 * here though one of the others could take it at once.
 */
#include "mask/mask.h"

#include "agent/readable.h"
#include "agent/state.h"
#include "base/syscall.h"
#include "contact/announce.h"
#include "mask/nudge.h"
#include "signal/borrower.h"
#include "signal/ownership.h"

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
static __thread pid_t real_in __attribute__((tls_model("initial-exec")));
static __thread uint64_t beside __attribute__((tls_model("initial-exec"))); /* 0: not known */
static _Atomic bool honest;

#define TRAP_BIT (1ull << (SIGTRAP - 1))
#define LIBCS_BITS (3ull << 31) /* signals 32 and 33, which libc keeps for itself */

/* A SIGTRAP sent to the process, not to a thread: any thread may take it. */
enum { PROCESS_NONE, PROCESS_FILLING, PROCESS_PENDING };
static _Atomic int process_state;
static siginfo_t process_pending;

static struct {
	int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
	int (*signalfd)(int, const sigset_t *, int);
} libc;

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor)) static void resolve(void)
{
	if (libc.pthread_sigmask)
		return;
	RESOLVE(signalfd);
	RESOLVE(pthread_sigmask);
}

bool mask_is_ours(void)
{
	return agent_state.area && !atomic_load_explicit(&honest, memory_order_relaxed);
}

/* Is the wish over? `mask`: the kernel's mask where the thread runs no handler of ours. */
static bool wish_is_over(uint64_t mask)
{
	return beside & ~mask;
}

/* True in a child that borrows this memory: there the kernel's mask is the program's wish. */
static bool left_to_kernel(void)
{
	uint64_t trap = TRAP_BIT, mask = 0;
	pid_t tid;

	if (!borrower_has_mask())
		return false;
	tid = raw_gettid();
	if (blocked && real_in != tid) {
		real_in = tid;
		raw_sigprocmask(SIG_BLOCK, NULL, &mask);
		if (!wish_is_over(mask))
			raw_sigprocmask(SIG_BLOCK, &trap, NULL);
	}
	return true;
}

bool mask_is_kept(void)
{
	return mask_is_ours() && !left_to_kernel();
}

static void keep_for_process(const siginfo_t *info)
{
	int none = PROCESS_NONE;

	if (!atomic_compare_exchange_strong(&process_state, &none, PROCESS_FILLING))
		return;
	process_pending = *info;
	atomic_store(&process_state, PROCESS_PENDING);
	nudge_send();
}

/* Sends the signal to the process again. Only the first thread may repeat what kill() said of the
 * sender (do_rt_sigqueueinfo() compares thread ids). Accepted: from any other thread the sender
 * becomes this process. */
static void send_to_process(siginfo_t *info)
{
	if (raw_syscall6(SYS_rt_sigqueueinfo, raw_getpid(), SIGTRAP, (long)info, 0, 0, 0))
		raw_syscall3(SYS_kill, raw_getpid(), SIGTRAP, 0);
}

static void settle_by(uint64_t mask);

bool mask_keep(siginfo_t *info, ucontext_t *context)
{
	uint64_t mask;

	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	if (!borrower_has_mask())
		settle_by(mask);
	if (nudge_is(info)) {
		/* The nudge came too late: the thread waits no longer (`blocked`), or has taken
		 * what was kept when it opened its mask. */
		if (blocked || !mask_take_kept(info)) {
			if (atomic_load(&process_state) == PROCESS_PENDING)
				nudge_pass_on();
			return true;
		}
	}
	if (!blocked)
		return false;
	if (borrower_has_mask()) {
		if (real_in == raw_gettid() || wish_is_over(mask))
			return false; /* the thread has unblocked SIGTRAP since */
		real_in = raw_gettid();
		sigaddset(&context->uc_sigmask, SIGTRAP);
		signal_requeue(SIGTRAP, info);
		return true;
	}
	if (atomic_load(&honest)) {
		/* From here on SIGTRAP is really blocked, so that sending it again reaches a thread
		 * that waits for it. */
		sigaddset(&context->uc_sigmask, SIGTRAP);
		send_to_process(info);
		return true;
	}
	/* As in the kernel, a second signal of the same number is lost. */
	if (info->si_code != SI_TKILL) {
		keep_for_process(info);
		return true;
	}
	if (!has_pending)
		pending = *info;
	has_pending = true;
	return true;
}

bool mask_has_kept(void)
{
	return has_pending || atomic_load(&process_state) == PROCESS_PENDING;
}

bool mask_take_kept(siginfo_t *info)
{
	int full = PROCESS_PENDING;

	if (has_pending) {
		*info = pending;
		has_pending = false;
		return true;
	}
	if (!atomic_compare_exchange_strong(&process_state, &full, PROCESS_FILLING))
		return false;
	*info = process_pending;
	atomic_store(&process_state, PROCESS_NONE);
	return true;
}

void mask_forget_kept(void)
{
	has_pending = false;
	atomic_store(&process_state, PROCESS_NONE);
}

/* Sends the kept signal to this very thread again; a thread may repeat to itself whatever the
 * sender said (do_rt_tgsigqueueinfo()). */
static void release_pending(void)
{
	siginfo_t info;

	while (mask_take_kept(&info))
		signal_requeue(SIGTRAP, &info);
}

static void settle_by(uint64_t mask)
{
	if (!blocked || !wish_is_over(mask))
		return;
	blocked = false;
	beside = 0;
	release_pending();
}

/* Is SIGTRAP "blocked" in this thread? For threads that run in no handler of ours and borrow no
 * memory. */
static bool is_blocked_still(void)
{
	uint64_t mask = 0;

	if (blocked && beside && !borrower_has_mask()) {
		raw_sigprocmask(SIG_BLOCK, NULL, &mask);
		settle_by(mask);
	}
	return blocked;
}

void mask_open(struct mask_opening *opening)
{
	uint64_t trap = TRAP_BIT;

	opening->beside = beside;
	raw_sigprocmask(SIG_BLOCK, &trap, &opening->mask);
	blocked = false;
}

void mask_release_kept(void)
{
	release_pending();
}

void mask_close(const struct mask_opening *opening)
{
	blocked = true;
	beside = opening->beside;
	raw_sigprocmask(SIG_SETMASK, &opening->mask, NULL);
}

void mask_replaced(struct mask_opening *opening)
{
	opening->beside = beside;
	beside = 0;
}

void mask_restored(const struct mask_opening *opening)
{
	if (blocked)
		beside = opening->beside;
}

/* Notes what is really blocked beside SIGTRAP, after the kernel's mask was changed. */
static void note_beside(bool before)
{
	uint64_t mask = 0;

	if (blocked)
		raw_sigprocmask(SIG_BLOCK, NULL, &mask);
	if (before)
		beside &= mask;
	else
		beside = mask & ~(TRAP_BIT | LIBCS_BITS);
}

static void note_wish(int how, bool member)
{
	bool before = blocked;

	real_in = 0;
	if (how == SIG_BLOCK)
		blocked = blocked || member;
	else if (how == SIG_UNBLOCK)
		blocked = blocked && !member;
	else
		blocked = member;
	note_beside(before);
}

void mask_wish(bool wanted)
{
	bool before = is_blocked_still();

	real_in = 0;
	blocked = wanted;
	beside = 0; /* cleared, since the kernel's mask is set later */
	if (before && !blocked)
		release_pending();
}

/* Changes the mask and the wish. Returns an error number, as pthread_sigmask() does. */
static int change_mask(int how, const sigset_t *set, sigset_t *old)
{
	bool before = is_blocked_still();
	bool blocks = set && how != SIG_UNBLOCK && sigismember(set, SIGTRAP) == 1;
	sigset_t real;
	int err;

	resolve();
	if ((!before && !blocks) || !mask_is_kept())
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

int mask_change(int how, const uint64_t *set, uint64_t *old)
{
	bool before = is_blocked_still();
	uint64_t real = set ? *set & ~(how == SIG_UNBLOCK ? 0 : TRAP_BIT) : 0;
	int err = raw_sigprocmask(how, set ? &real : NULL, old);

	/* The kernel changes the mask first and fails with EFAULT afterwards where it cannot write
	 * `old` (kernel/signal.c): the change stands all the same. */
	if (err && err != -EFAULT)
		return err;
	if (set)
		note_wish(how, *set & TRAP_BIT);
	if (old && before && !err)
		*old |= TRAP_BIT;
	if (before && !blocked)
		release_pending();
	return err;
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
	return mask_is_kept() && is_blocked_still();
}

void mask_begin_blocked(void)
{
	uint64_t trap = TRAP_BIT;

	blocked = true;
	if (mask_is_ours())
		raw_sigprocmask(SIG_UNBLOCK, &trap, NULL);
}

void mask_adopt(void)
{
	uint64_t mask = 0;

	raw_sigprocmask(SIG_BLOCK, NULL, &mask);
	if (mask & TRAP_BIT)
		mask_begin_blocked();
}

/* A signalfd(2) for SIGTRAP would give the program our signals among its own, which cannot be
 * sorted out of what it reads: watching ends. */
void mask_before_signalfd(const void *set)
{
	uint64_t trap = TRAP_BIT;

	if (!agent_state.area || !readable_has_signal(set, SIGTRAP) || left_to_kernel())
		return;
	agent_give_up();
	atomic_store(&honest, true);
	if (blocked)
		raw_sigprocmask(SIG_BLOCK, &trap, NULL);
	release_pending();
}

TL_API int signalfd(int fd, const sigset_t *set, int flags)
{
	resolve();
	mask_before_signalfd(set);
	return libc.signalfd(fd, set, flags);
}
